"""The addresses under `/api/v1/`."""

from csp.decorators import csp
from django.conf import settings
from django.urls import path, re_path
from drf_spectacular.views import SpectacularSwaggerSplitView

from .routing import Router, nothing_here
from .views.advice import AdviceView, MoveAnswerViewSet
from .views.backtests import BacktestViewSet
from .views.bandwidth import BandwidthViewSet
from .views.batch import BatchView
from .views.capacity import CapacityView
from .views.changes import ChangeViewSet
from .views.decisions import DecisionViewSet
from .views.deliveries import DeliveryViewSet
from .views.inventory import IdcViewSet, IspViewSet, LineViewSet, RegionViewSet
from .views.metrics import MetricViewSet, SamplesView
from .views.openapi_document import OpenApiDocumentView
from .views.placements import PlacementViewSet
from .views.profiles import ProfileViewSet
from .views.providers import OutcomesView, ProviderKindsView, ProviderViewSet
from .views.root import RootView
from .views.schedule import ScheduleView
from .views.shapes import ShapeViewSet
from .views.sources import CollectorsView, SourceViewSet
from .views.system import PluginsView, StatusView
from .views.taints_and_affinities import AffinityViewSet, TaintViewSet
from .views.tenants import TenantViewSet
from .views.tokens import TokenViewSet
from .views.users import MeView, RegionScopeViewSet, UserViewSet

router = Router()
router.register("regions", RegionViewSet)
router.register("isps", IspViewSet)
router.register("idcs", IdcViewSet)
router.register("lines", LineViewSet)
router.register("taints", TaintViewSet)
router.register("affinities", AffinityViewSet)
router.register("shapes", ShapeViewSet)
router.register("metrics", MetricViewSet)
router.register("bandwidth", BandwidthViewSet)
router.register("sources", SourceViewSet)
router.register("profiles", ProfileViewSet)
router.register("backtests", BacktestViewSet)
router.register("advice/moves", MoveAnswerViewSet)
router.register("decisions", DecisionViewSet)
router.register("tenants", TenantViewSet)
router.register("users", UserViewSet)
router.register("region_scopes", RegionScopeViewSet)
router.register("tokens", TokenViewSet)
router.register("changes", ChangeViewSet)
router.register("providers", ProviderViewSet)
router.register("placements", PlacementViewSet)
router.register("deliveries", DeliveryViewSet)

browsable_docs = csp(settings.API_DOCS_SECURITY_POLICY)(SpectacularSwaggerSplitView.as_view(url_name="schema"))

resources = [
    path("schedule/", ScheduleView.as_view(), name="schedule"),
    path("schedule/batch/", BatchView.as_view(), name="schedule-batch"),
    path("advice/", AdviceView.as_view(), name="advice"),
    path("capacity/", CapacityView.as_view(), name="capacity"),
    path("samples/", SamplesView.as_view(), name="samples"),
    path("collectors/", CollectorsView.as_view(), name="collectors"),
    path("provider_kinds/", ProviderKindsView.as_view(), name="provider_kinds"),
    path("plugins/", PluginsView.as_view(), name="plugins"),
    path("me/", MeView.as_view(), name="me"),
    path("status/", StatusView.as_view(), name="status"),
    path("schema/", OpenApiDocumentView.as_view(), name="schema"),
    path("docs/", browsable_docs, name="docs"),
]
names = [*(str(address.pattern).rstrip("/") for address in resources), *(prefix for prefix, *_ in router.registry)]

urlpatterns = [
    path("", RootView.as_view(names=names), name="root"),
    *resources,
    path("providers/<str:code>/outcomes/", OutcomesView.as_view(), name="provider_outcomes"),
    *router.urls,
    re_path("^(?P<path>.*)$", nothing_here),
]
