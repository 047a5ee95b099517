import { count, plural } from './format.js';
import { strategyOf } from './strategies.js';

/** The report as sentences: what each step did, then each message that changed, with its reason. */
export function reportText(name, compaction, policy) {
  const { report } = compaction;
  const lines = [
    `${name}`,
    `${plural(report.tokensBefore, 'token')} before, ${count(report.tokensAfter)} after (estimated).`,
    `${plural(compaction.before, 'message')} before, ${count(compaction.after)} after: ${count(report.dropped.length)} dropped, ${count(report.rewritten.length)} rewritten, ${count(report.added.length)} added.`,
    report.fits ? null : `It does not fit: ${report.reason}`,
    report.fits && report.reason ? report.reason : null,
    '',
    'Steps',
    ...report.steps.map((step, n) => {
      const title = strategyOf(step.strategy)?.title ?? step.strategy;
      const did = step.fired
        ? `${count(step.tokensBefore)} → ${plural(step.tokensAfter, 'token')}, ${count(step.removed)} removed, ${count(step.rewritten)} rewritten`
        : 'did not run';
      return `${String(n + 1).padStart(3)}. ${title} (${step.strategy}): ${did}${step.note ? `. ${step.note}` : ''}`;
    }),
    '',
    'Messages',
    ...changes(report),
    '',
    'Policy',
    JSON.stringify(policy, null, 2),
  ];
  return lines.filter((line) => line !== null).join('\n');
}

function changes(report) {
  const all = [
    ...report.dropped.map((each) => ({ ...each, what: 'dropped' })),
    ...report.rewritten.map((each) => ({ ...each, what: 'rewritten' })),
  ].sort((a, b) => a.index - b.index);
  const lines = all.map(({ index, id, what, reason }) => `${String(index + 1).padStart(6)}  ${what.padEnd(9)}  ${id ?? `#${index}`}  ${reason}`);
  lines.push(...report.added.map(({ id, reason }) => `     +  added      ${id}  ${reason}`));
  lines.push(...report.unreadable.map(({ line, offset, message }) => `  line ${line}, byte ${offset}: ${message}`));
  return lines.length ? lines : ['     none changed'];
}
