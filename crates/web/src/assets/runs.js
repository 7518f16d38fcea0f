// Runs: moments in the reader's own time, rows that lead where their link does, and datasets that are uploaded.

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
// A list of which something goes on is looked at again, unless the reader is busy with it.
if (runs?.dataset.going === "true") {
  setInterval(() => {
    if (!document.hidden && !runs.contains(document.activeElement)) location.reload();
  }, 4000);
}

const upload = document.querySelector("#upload");
if (upload) {
  upload.hidden = false;
  const said = document.querySelector("#uploaded");
  const list = document.querySelector("#dataset");
  const say = (text, isWrong = false) => {
    said.hidden = false;
    said.textContent = text;
    said.classList.toggle("problem", isWrong);
  };
  const number = (value) => value.toLocaleString("en-US");

  upload.querySelector("input").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    say(`Uploading ${file.name}…`);
    try {
      const to = `${upload.dataset.to}?name=${encodeURIComponent(file.name)}`;
      const reply = await fetch(to, { method: "POST", body: file });
      const answer = await reply.json();
      if (!reply.ok) throw new Error(answer.error);
      const option = new Option(answer.name, answer.name, true, true);
      list.append(option);
      const columns = `${number(answer.rows)} rows; columns: ${answer.columns.join(", ")}`;
      if (answer.problems.length) {
        say(`${answer.name} is here: ${columns}.\nSay below what its columns are called, or mend it:\n${answer.problems.join("\n")}`, true);
      } else {
        say(`${answer.name} is here: ${columns}.`);
      }
    } catch (error) {
      say(`${file.name} was not taken. ${error.message}`, true);
    }
    event.target.value = "";
  });
}
