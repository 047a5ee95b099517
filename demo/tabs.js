/**
 * The keyboard and the state of a tab list (WAI-ARIA "tabs", automatic activation).
 * @param {HTMLElement} list  role="tablist"; each tab names its panel in aria-controls
 */
export function tabs(list) {
  const all = [...list.querySelectorAll('[role="tab"]')];
  const select = (id, focus = false) => {
    for (const tab of all) {
      const chosen = tab.id === id;
      tab.setAttribute('aria-selected', String(chosen));
      tab.tabIndex = chosen ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = !chosen;
      if (chosen && focus) tab.focus();
    }
  };
  list.addEventListener('click', (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) select(tab.id);
  });
  list.addEventListener('keydown', (event) => {
    const at = all.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    select(all[(to + all.length) % all.length].id, true);
  });
  return { select };
}
