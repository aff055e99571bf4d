"""Times that sort, and that nobody reads as the twelve-hour clock."""

DATETIME_FORMAT = "Y-m-d H:i"
SHORT_DATETIME_FORMAT = DATETIME_FORMAT
