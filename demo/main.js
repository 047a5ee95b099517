import { $ } from './dom.js';

/** Panels by the hash that shows them; each is loaded when it is first shown. */
const PANELS = {
  trim: () => import('./trim.js'),
};

const started = new Set();

async function show() {
  const wanted = location.hash.slice(1);
  if (wanted === 'main') return;
  const name = wanted in PANELS ? wanted : 'trim';
  for (const each of Object.keys(PANELS)) $(`#panel-${each}`).hidden = each !== name;
  for (const link of $('#nav').children) {
    if (link.hash === `#${name}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  if (started.has(name)) return;
  started.add(name);
  try {
    await (await PANELS[name]()).start($(`#panel-${name}`));
  } catch (error) {
    started.delete(name);
    const fatal = $('#fatal');
    fatal.hidden = false;
    fatal.textContent = `This page could not start: ${error.message} Load it again; if that does not help, run "make demo" again and look at what it prints.`;
  }
}

addEventListener('hashchange', show);
show();
