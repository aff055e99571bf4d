from typing import Literal

ExpressionOperator = Literal["DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn"]

EXPRESSION_OPERATOR_VALUES: set[ExpressionOperator] = {
    "DoesNotExist",
    "Exists",
    "Gt",
    "In",
    "Lt",
    "NotIn",
}


def check_expression_operator(value: str) -> ExpressionOperator:
    if value in EXPRESSION_OPERATOR_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPRESSION_OPERATOR_VALUES!r}")
