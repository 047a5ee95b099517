import { $, h } from './dom.js';

/** Panels by the hash that shows them; each is loaded when it is first shown. */
const PANELS = {
  trim: () => import('./trim.js'),
  chat: () => import('./chat.js'),
  compare: async () => {
    await begin('trim'); // it opens the transcript that is compared
    return import('./compare.js');
  },
  sessions: () => import('./sessions.js'),
};

/** Style sheets a panel needs besides those of the first one. */
const STYLES = { trim: [], chat: ['chat'], compare: ['compare'], sessions: ['chat', 'sessions'] };

const starting = new Map();
const styles = new Map();

/** Load a style sheet once; what comes after it waits, so that nothing is shown bare and moves. */
function style(name) {
  if (!styles.has(name)) {
    const link = h('link', { rel: 'stylesheet', href: new URL(`./css/${name}.css`, import.meta.url).href });
    styles.set(name, new Promise((resolve) => {
      link.addEventListener('load', resolve);
      link.addEventListener('error', resolve);
    }));
    document.head.append(link);
  }
  return styles.get(name);
}

/** Start a panel once; a failed start may be tried again. */
function begin(name) {
  if (!starting.has(name)) {
    const started = PANELS[name]().then(({ start }) => start());
    starting.set(name, started);
    started.catch(() => starting.delete(name));
  }
  return starting.get(name);
}

async function show() {
  const wanted = location.hash.slice(1);
  if (wanted === 'main') return;
  const name = wanted in PANELS ? wanted : 'trim';
  await Promise.all(STYLES[name].map(style));
  if (location.hash.slice(1) !== wanted) return;
  for (const each of Object.keys(PANELS)) $(`#panel-${each}`).hidden = each !== name;
  for (const link of $('#nav').children) {
    if (link.hash === `#${name}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  document.title = `${$(`#${name}-title`).textContent.replace(/\.$/, '')} · Tamp`;
  $('#fatal').hidden = true;
  $('#private').textContent = name === 'chat' ? $('#panel-chat').dataset.private ?? 'Talks to its own server only' : 'Nothing leaves this page';
  try {
    await begin(name);
    keepOffline();
  } catch (error) {
    const fatal = $('#fatal');
    fatal.hidden = false;
    fatal.textContent = `This panel could not start (${error.message}). Load it again; if that does not help, run "make demo" again and look at what it prints.`;
  }
}

let offline = false;

/** Offline after the first visit; a browser that does not allow it loses nothing else. */
async function keepOffline() {
  if (offline || !('serviceWorker' in navigator) || !globalThis.isSecureContext) return;
  offline = true;
  try {
    await navigator.serviceWorker.register(new URL('./sw.js', import.meta.url));
    const { active } = await navigator.serviceWorker.ready;
    const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
    active.postMessage([...new Set([location.href.split('#')[0], ...loaded])]);
  } catch {
    // Private windows and some policies forbid it.
  }
}

addEventListener('hashchange', show);
show();
