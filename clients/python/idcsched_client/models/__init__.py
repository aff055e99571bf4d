"""Contains all the data models used in inputs/outputs"""

from .accepted import Accepted
from .attempt_document import AttemptDocument
from .bill import Bill
from .candidate import Candidate
from .candidate_scores import CandidateScores
from .client import Client
from .commit_request import CommitRequest
from .commit_request_action_type_0 import CommitRequestActionType0
from .destination_request import DestinationRequest
from .earlier_group import EarlierGroup
from .event_document import EventDocument
from .event_document_detail import EventDocumentDetail
from .event_document_page import EventDocumentPage
from .expression import Expression
from .expression_operator import ExpressionOperator
from .fallback_group import FallbackGroup
from .field_problem import FieldProblem
from .flip import Flip
from .giving_up_request import GivingUpRequest
from .hint import Hint
from .hypothetical import Hypothetical
from .hypothetical_idc import HypotheticalIdc
from .hypothetical_idc_metrics_type_0 import HypotheticalIdcMetricsType0
from .hypothetical_idc_status_type_0 import HypotheticalIdcStatusType0
from .hypothetical_line import HypotheticalLine
from .hypothetical_line_metrics_type_0 import HypotheticalLineMetricsType0
from .hypothetical_taint import HypotheticalTaint
from .hypothetical_taint_effect import HypotheticalTaintEffect
from .idc_brief import IdcBrief
from .idc_share import IdcShare
from .idc_totals import IdcTotals
from .ignored_taint import IgnoredTaint
from .ignored_taint_effect_type_0 import IgnoredTaintEffectType0
from .lacks_document import LacksDocument
from .lacks_document_detail import LacksDocumentDetail
from .line_bill import LineBill
from .line_use import LineUse
from .machine import Machine
from .machine_document import MachineDocument
from .machine_params_type_0 import MachineParamsType0
from .margin import Margin
from .near_miss import NearMiss
from .near_miss_detail import NearMissDetail
from .paginated_placement_document_list import PaginatedPlacementDocumentList
from .passed import Passed
from .passed_figures import PassedFigures
from .placement_document import PlacementDocument
from .placement_totals import PlacementTotals
from .placements_list_state_item import PlacementsListStateItem
from .placements_list_state_n_item import PlacementsListStateNItem
from .planned import Planned
from .plugin_error import PluginError
from .point import Point
from .preference import Preference
from .preference_match_labels_type_0 import PreferenceMatchLabelsType0
from .problem import Problem
from .profile_brief import ProfileBrief
from .rejected import Rejected
from .rejected_count import RejectedCount
from .rejected_detail import RejectedDetail
from .request import Request
from .request_action_type_0 import RequestActionType0
from .request_explain_type_0 import RequestExplainType0
from .request_isp_match_type_0 import RequestIspMatchType0
from .request_labels_type_0 import RequestLabelsType0
from .request_request import RequestRequest
from .request_request_action_type_0 import RequestRequestActionType0
from .request_request_explain_type_0 import RequestRequestExplainType0
from .request_request_isp_match_type_0 import RequestRequestIspMatchType0
from .request_request_labels_type_0 import RequestRequestLabelsType0
from .request_request_tier_type_0 import RequestRequestTierType0
from .request_request_weights_type_0 import RequestRequestWeightsType0
from .request_tier_type_0 import RequestTierType0
from .request_weights_type_0 import RequestWeightsType0
from .sample_document import SampleDocument
from .samples_read_agg import SamplesReadAgg
from .schedule_batch_request import ScheduleBatchRequest
from .schedule_batch_request_mode import ScheduleBatchRequestMode
from .schedule_batch_request_objective import ScheduleBatchRequestObjective
from .schedule_batch_response_200 import ScheduleBatchResponse200
from .schedule_batch_response_200_plan import ScheduleBatchResponse200Plan
from .schedule_batch_response_200_plan_objective import ScheduleBatchResponse200PlanObjective
from .schedule_batch_response_200_plan_status import ScheduleBatchResponse200PlanStatus
from .schedule_batch_response_200_result import ScheduleBatchResponse200Result
from .schedule_batch_response_200_results_item import ScheduleBatchResponse200ResultsItem
from .scheduled import Scheduled
from .score import Score
from .series_page import SeriesPage
from .snapshot_brief import SnapshotBrief
from .spread import Spread
from .spread_by_type_0 import SpreadByType0
from .stale import Stale
from .term import Term
from .term_match_labels_type_0 import TermMatchLabelsType0
from .tie import Tie
from .tie_values import TieValues
from .toleration import Toleration
from .toleration_effect_type_0 import TolerationEffectType0
from .toleration_effect_type_1 import TolerationEffectType1
from .toleration_operator_type_0 import TolerationOperatorType0
from .waits_document import WaitsDocument
from .worth import Worth
from .worth_best import WorthBest
from .worth_no_price import WorthNoPrice

__all__ = (
    "Accepted",
    "AttemptDocument",
    "Bill",
    "Candidate",
    "CandidateScores",
    "Client",
    "CommitRequest",
    "CommitRequestActionType0",
    "DestinationRequest",
    "EarlierGroup",
    "EventDocument",
    "EventDocumentDetail",
    "EventDocumentPage",
    "Expression",
    "ExpressionOperator",
    "FallbackGroup",
    "FieldProblem",
    "Flip",
    "GivingUpRequest",
    "Hint",
    "Hypothetical",
    "HypotheticalIdc",
    "HypotheticalIdcMetricsType0",
    "HypotheticalIdcStatusType0",
    "HypotheticalLine",
    "HypotheticalLineMetricsType0",
    "HypotheticalTaint",
    "HypotheticalTaintEffect",
    "IdcBrief",
    "IdcShare",
    "IdcTotals",
    "IgnoredTaint",
    "IgnoredTaintEffectType0",
    "LacksDocument",
    "LacksDocumentDetail",
    "LineBill",
    "LineUse",
    "Machine",
    "MachineDocument",
    "MachineParamsType0",
    "Margin",
    "NearMiss",
    "NearMissDetail",
    "PaginatedPlacementDocumentList",
    "Passed",
    "PassedFigures",
    "PlacementDocument",
    "PlacementTotals",
    "PlacementsListStateItem",
    "PlacementsListStateNItem",
    "Planned",
    "PluginError",
    "Point",
    "Preference",
    "PreferenceMatchLabelsType0",
    "Problem",
    "ProfileBrief",
    "Rejected",
    "RejectedCount",
    "RejectedDetail",
    "Request",
    "RequestActionType0",
    "RequestExplainType0",
    "RequestIspMatchType0",
    "RequestLabelsType0",
    "RequestRequest",
    "RequestRequestActionType0",
    "RequestRequestExplainType0",
    "RequestRequestIspMatchType0",
    "RequestRequestLabelsType0",
    "RequestRequestTierType0",
    "RequestRequestWeightsType0",
    "RequestTierType0",
    "RequestWeightsType0",
    "SampleDocument",
    "SamplesReadAgg",
    "ScheduleBatchRequest",
    "ScheduleBatchRequestMode",
    "ScheduleBatchRequestObjective",
    "ScheduleBatchResponse200",
    "ScheduleBatchResponse200Plan",
    "ScheduleBatchResponse200PlanObjective",
    "ScheduleBatchResponse200PlanStatus",
    "ScheduleBatchResponse200Result",
    "ScheduleBatchResponse200ResultsItem",
    "Scheduled",
    "Score",
    "SeriesPage",
    "SnapshotBrief",
    "Spread",
    "SpreadByType0",
    "Stale",
    "Term",
    "TermMatchLabelsType0",
    "Tie",
    "TieValues",
    "Toleration",
    "TolerationEffectType0",
    "TolerationEffectType1",
    "TolerationOperatorType0",
    "WaitsDocument",
    "Worth",
    "WorthBest",
    "WorthNoPrice",
)
