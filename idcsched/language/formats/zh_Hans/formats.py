"""The formats of times: sortable, and by the 24-hour clock."""

DATETIME_FORMAT = "Y-m-d H:i"
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
