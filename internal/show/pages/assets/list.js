// Adds a search field to each long table, and unfolds everything for print.

function search(table) {
  if (table.dataset.searchable) return;
  table.dataset.searchable = "yes";
  const box = table.closest(".scroll");
  const label = document.createElement("label");
  const field = document.createElement("input");
  const found = document.createElement("output");
  label.className = "search";
  field.type = "search";
  label.append("Find ", field);
  found.className = "found";
  box.before(label, found);
  const rows = [...table.tBodies[0].rows];
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !row.textContent.toLowerCase().includes(wanted);
      if (!row.hidden) shown++;
    }
    found.textContent = wanted === "" ? "" : `${shown} of ${rows.length} rows`;
  });
}

function prepare() {
  document.querySelectorAll("table.searched").forEach(search);
}

let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("details:not([open])")];
  for (const details of opened) details.open = true;
});
addEventListener("afterprint", () => {
  for (const details of opened) details.open = false;
});

prepare();
document.addEventListener("contentchange", prepare);
