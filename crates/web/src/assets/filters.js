// A choice from a list is sent at once; boxes wait for the button, so that several can be ticked.

const form = document.getElementById("choose");

form?.addEventListener("change", (event) => {
  const list = event.target.closest("select");
  if (!list) return;
  // What depends on the choice is chosen anew.
  for (const name of (list.dataset.drops ?? "").split(" ").filter(Boolean)) {
    const dependent = form.elements[name];
    if (dependent) dependent.disabled = true;
  }
  form.requestSubmit();
});

// A page that comes back out of the browser's memory has all its lists.
addEventListener("pageshow", () => {
  for (const list of form?.querySelectorAll("select") ?? []) list.disabled = false;
});
