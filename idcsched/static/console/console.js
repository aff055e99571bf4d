// What all pages of the console do: tell the server the browser's time zone, keys, dialogs, and a server that is away.
"use strict";

const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
const known = document.cookie.split("; ").some((cookie) => cookie === `zone=${encodeURIComponent(own)}`);
if (own && !known) {
    document.cookie = `zone=${encodeURIComponent(own)}; path=/console/; max-age=31536000; samesite=lax`;
    if (own !== document.documentElement.dataset.zone && document.cookie.includes("zone=")) {
        location.reload();
    }
}

document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) {
        return;
    }
    const search = document.querySelector("input[type=search]");
    if (event.key === "/" && search) {
        event.preventDefault();
        search.focus();
        search.select();
    } else if (event.key === "?") {
        event.preventDefault();
        document.getElementById("help").showModal();
    }
});

document.addEventListener("click", (event) => {
    const opener = event.target.closest("[data-open]");
    if (opener) {
        document.getElementById(opener.dataset.open).showModal();
    }
    const copier = event.target.closest("[data-copy]");
    if (copier) {
        navigator.clipboard.writeText(document.getElementById(copier.dataset.copy).textContent.trim());
        copier.textContent = copier.dataset.done;
    }
    for (const menu of document.querySelectorAll("details.menu[open]")) {
        if (!menu.contains(event.target)) {
            menu.open = false;
        }
    }
});

document.addEventListener("submit", (event) => {
    const question = event.submitter?.dataset.confirm ?? event.target.dataset.confirm;
    if (question && !window.confirm(question)) {
        event.preventDefault();
    }
});

const offline = document.getElementById("offline");
document.addEventListener("htmx:sendError", () => { offline.hidden = false; });
document.addEventListener("htmx:responseError", (event) => { offline.hidden = event.detail.xhr.status < 500; });
document.addEventListener("htmx:afterOnLoad", (event) => { if (event.detail.xhr.status < 400) { offline.hidden = true; } });

// A tab that nobody sees asks for nothing: requests without an event that caused them are those of `every 3s`.
document.addEventListener("htmx:beforeRequest", (event) => {
    if (document.hidden && !event.detail.requestConfig.triggeringEvent) {
        event.preventDefault();
    }
});
