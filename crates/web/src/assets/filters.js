// Submits the form when a list changes; checkboxes wait for the button, so that several can be selected.

const form = document.getElementById("choose");

form?.addEventListener("change", (event) => {
  const list = event.target.closest("select");
  if (!list) return;
  // Reset the fields that depend on this one.
  for (const name of (list.dataset.drops ?? "").split(" ").filter(Boolean)) {
    const dependent = form.elements[name];
    if (dependent) dependent.disabled = true;
  }
  form.requestSubmit();
});

// Pages restored from the back/forward cache need their lists enabled again.
addEventListener("pageshow", () => {
  for (const list of form?.querySelectorAll("select") ?? []) list.disabled = false;
});
