/**
 * The back-end tools of the chat's agent: a small shop's logs and orders, made up by rule, so that the same
 * question gives the same answer on every machine.
 */

/** A small generator of numbers that depends on nothing but its seed (mulberry32). */
function numbers(seed) {
  let state = 0;
  for (const char of seed) state = (Math.imul(state, 31) + char.codePointAt(0)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = (next, list) => list[Math.floor(next() * list.length)];
const PATHS = ['/orders', '/orders/HB-71718', '/cart', '/search?q=sea', '/books/9780140126303', '/checkout', '/health', '/admin/dead-letters'];
const TITLES = ['The Sea Around Us', 'Weather, a Field Guide', 'Knots for Beginners', 'The Tide Tables 2026', 'A Harbour in Winter', 'Charts and Their Makers'];

/** Lines of an access log, one request each. */
function readLog({ service = 'web', hour = 9 } = {}) {
  const next = numbers(`log/${service}/${hour}`);
  const slow = service === 'mail' && Number(hour) === 10;
  const lines = [];
  for (let n = 0; n < 28; n += 1) {
    const ms = Math.round(12 + next() * 180 + (slow && next() < 0.3 ? 15000 + next() * 9000 : 0));
    const status = next() < 0.03 ? 503 : next() < 0.06 ? 404 : 200;
    const minute = String(Math.floor((n / 28) * 60)).padStart(2, '0');
    const second = String(Math.floor(next() * 60)).padStart(2, '0');
    lines.push(`2026-11-17T${String(hour).padStart(2, '0')}:${minute}:${second}Z ${service} ${status} ${String(ms).padStart(5)} ms  ${pick(next, PATHS)}  req=${Math.floor(next() * 2 ** 32).toString(16).padStart(8, '0')}`);
  }
  return lines.join('\n');
}

function findOrders({ customer = 'Ada' } = {}) {
  const next = numbers(`orders/${customer}`);
  return JSON.stringify(Array.from({ length: 8 }, () => ({ id: `HB-${71000 + Math.floor(next() * 900)}`, placed: `2026-11-${String(1 + Math.floor(next() * 17)).padStart(2, '0')}`, status: pick(next, ['placed', 'packed', 'shipped']), items: 1 + Math.floor(next() * 4) })), null, 1);
}

function readOrder({ id = 'HB-71718' } = {}) {
  const next = numbers(`order/${id}`);
  const items = Array.from({ length: 1 + Math.floor(next() * 4) }, () => ({ title: pick(next, TITLES), quantity: 1 + Math.floor(next() * 2), cents: 900 + Math.floor(next() * 30) * 50 }));
  const history = Array.from({ length: 14 }, (_, n) => ({ at: `2026-11-17T${String(8 + Math.floor(n / 2)).padStart(2, '0')}:${n % 2 ? '40' : '05'}:00Z`, event: pick(next, ['placed', 'paid', 'mail queued', 'mail sent', 'picked', 'packed', 'label printed']), by: pick(next, ['shop', 'w1', 'w2', 'mira']) }));
  return JSON.stringify({ id, customer: 'Ada', currency: 'EUR', items, total: items.reduce((sum, item) => sum + item.cents * item.quantity, 0), history }, null, 1);
}

/** name → what it is, for a model, and what it does. */
export const TOOLS = new Map([
  ['read_log', { run: readLog, description: 'Read one hour of a service’s log.', parameters: { type: 'object', properties: { service: { type: 'string', enum: ['web', 'mail', 'search'] }, hour: { type: 'integer', minimum: 0, maximum: 23 } }, required: ['service', 'hour'] } }],
  ['find_orders', { run: findOrders, description: 'List a customer’s orders.', parameters: { type: 'object', properties: { customer: { type: 'string' } }, required: ['customer'] } }],
  ['read_order', { run: readOrder, description: 'Read one order with its history.', parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] } }],
]);
