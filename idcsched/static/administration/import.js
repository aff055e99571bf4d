// Shows how far an import is, and the page anew once something else is to be seen.
"use strict";
{
    const shown = document.getElementById("import-progress");
    const bar = shown.querySelector("progress");

    const ask = async () => {
        try {
            const response = await fetch(shown.dataset.url, {headers: {Accept: "application/json"}});
            if (response.ok) {
                const job = await response.json();
                if (!job.working) {
                    window.location.reload();
                    return;
                }
                if (job.total) {
                    bar.max = job.total;
                    bar.value = job.done;
                }
                shown.querySelector("[data-done]").textContent = job.done;
                shown.querySelector("[data-total]").textContent = job.total;
            }
        } catch (error) {
            // The server is away for a moment: ask again.
        }
        window.setTimeout(ask, 1000);
    };
    window.setTimeout(ask, 500);
}
