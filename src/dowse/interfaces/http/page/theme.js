// Before the first paint: the theme that was chosen, so that nothing flashes. A file, because the page's
// policy allows no script inside the document.
try {
  const chosen = localStorage.getItem("dowse.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // Storage may be forbidden; then the system's theme holds.
}
