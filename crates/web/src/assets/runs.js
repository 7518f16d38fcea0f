// Runs: local times, clickable rows, and dataset uploads.

for (const time of document.querySelectorAll("time[datetime]")) {
  const moment = new Date(time.dateTime);
  time.title = time.textContent;
  time.textContent = moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

const runs = document.querySelector("#runs");
runs?.querySelector("tbody").addEventListener("click", (event) => {
  if (event.target.closest("a") || getSelection()?.toString()) return;
  event.target.closest("tr")?.querySelector("th a")?.click();
});
// Reload the list while a run is active, unless it has the focus.
if (runs?.dataset.active === "true") {
  setInterval(() => {
    if (!document.hidden && !runs.contains(document.activeElement)) location.reload();
  }, 4000);
}

const upload = document.querySelector("#upload");
if (upload) {
  upload.hidden = false;
  const status = document.querySelector("#uploaded");
  const list = document.querySelector("#dataset");
  const report = (text, isError = false) => {
    status.hidden = false;
    status.textContent = text;
    status.classList.toggle("problem", isError);
  };
  const number = (value) => value.toLocaleString("en-US");

  upload.querySelector("input").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    report(`Uploading ${file.name}…`);
    try {
      const to = `${upload.dataset.to}?name=${encodeURIComponent(file.name)}`;
      const reply = await fetch(to, { method: "POST", body: file });
      const answer = await reply.json();
      if (!reply.ok) throw new Error(answer.error);
      const option = new Option(answer.name, answer.name, true, true);
      list.append(option);
      const columns = `${number(answer.rows)} rows; columns: ${answer.columns.join(", ")}`;
      if (answer.problems.length) {
        report(`${answer.name} uploaded: ${columns}.\nMap its columns below, or fix the file:\n${answer.problems.join("\n")}`, true);
      } else {
        report([`${answer.name} uploaded: ${columns}.`, ...answer.notes].join("\n"));
      }
    } catch (error) {
      report(`${file.name} was not uploaded: ${error.message}`, true);
    }
    event.target.value = "";
  });
}
