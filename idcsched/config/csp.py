"""What browsers may load and run: nothing at all, unless a page says what it needs.

Everything that pages load comes from this server; they work without the internet, and a text that somebody smuggled
into a page is not run.
"""

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE

__all__ = ["API_DOCS", "CLOSED", "PAGES"]

CLOSED = {"default-src": [NONE], "frame-ancestors": [NONE], "base-uri": [NONE], "form-action": [NONE]}
"""What is no page: JSON, redirects, probes."""

PAGES = CLOSED | {
    "script-src": [SELF, UNSAFE_EVAL],  # Alpine turns the attributes of the admin's templates into functions
    "style-src": [SELF],
    "style-src-attr": [UNSAFE_INLINE],  # Alpine and Select2 write style attributes; no style elements
    "img-src": [SELF, "data:"],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
}
"""The admin."""

API_DOCS = CLOSED | {
    "script-src": [SELF],
    "style-src": [SELF, UNSAFE_INLINE],  # Swagger UI brings style elements of its own
    "img-src": [SELF, "data:"],
    "connect-src": [SELF],
    "form-action": [SELF],
}
"""The pages that show the API."""
