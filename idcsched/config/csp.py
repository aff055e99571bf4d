"""The content security policies: what browsers may load and run.

Everything that pages load comes from this server; so pages work without the internet, and an injected script is not
run.
"""

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE

__all__ = ["API_DOCS", "CLOSED", "CONSOLE", "PAGES"]

CLOSED = {"default-src": [NONE], "frame-ancestors": [NONE], "base-uri": [NONE], "form-action": [NONE]}
"""The policy of answers that are no pages: JSON, redirects, probes. They may load nothing."""

PAGES = CLOSED | {
    "script-src": [SELF, UNSAFE_EVAL],  # Alpine turns the attributes of the admin's templates into functions
    "style-src": [SELF],
    "style-src-attr": [UNSAFE_INLINE],  # Alpine and Select2 write style attributes; no style elements
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
}
"""The policy of the admin."""

CONSOLE = CLOSED | {
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
}
"""The policy of the console."""

API_DOCS = CLOSED | {
    "script-src": [SELF],
    "style-src": [SELF, UNSAFE_INLINE],  # Swagger UI brings style elements of its own
    "img-src": [SELF, "data:"],
    "connect-src": [SELF],
    "form-action": [SELF],
}
"""The policy of the pages that show the API."""
