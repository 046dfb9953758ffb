// Finds tests that let time pass instead of waiting for a fact: in TypeScript, and in the shell
// scripts of their agents and gates. A loop that checks again after a pause waits for a fact;
// `eventually` is such a loop.

export interface TimedWait {
  readonly line: number;
  readonly text: string;
}

/** `await delay(…)` by any of its names, or a promise that a timer resolves. */
const pause =
  /\bawait (?:delay|pause|sleep|setTimeout)\((?!['"`])|\bnew Promise\b.*\bsetTimeout\(/u;
const loop = /\bwhile \(|^\s*for \((?:;;|let (?:tries|looks|rounds) )/u;
/** A longer sleep runs until the test ends it, so nothing waits for its end. */
const endlessSeconds = 20;
const sleepWord = /\bsleep "?(\$|[\d.]+)/gu;
/** `until [ -e go ]; do sleep 0.05; done`, or a loop that sleeps until it is killed. */
const shellLoop = /\b(?:until|while) [^\n]*?\bdo [^\n]*?\bsleep [^\n]*?\bdone\b/gu;

export function timedWaits(source: string): readonly TimedWait[] {
  const lines = source.split('\n');
  return lines.flatMap((text, index) => {
    if (/^\s*(?:\/\/|\*|\/\*\*)/u.test(text)) return [];
    const isPause = pause.test(text) && !isInLoop(lines, index);
    return isPause || sleepsAWhile(text) ? [{ line: index + 1, text: text.trim() }] : [];
  });
}

/** The line itself starts a loop or, by its indentation, is inside of one. */
function isInLoop(lines: readonly string[], index: number): boolean {
  const indentOf = (text: string): number => text.length - text.trimStart().length;
  let indent = indentOf(lines[index] ?? '') + 1;
  for (let at = index; at >= 0 && indent > 0; at -= 1) {
    const text = lines[at] ?? '';
    if (text.trim() === '' || indentOf(text) >= indent) continue;
    if (loop.test(text)) return true;
    indent = indentOf(text);
  }
  return false;
}

function sleepsAWhile(text: string): boolean {
  const others = text.replaceAll(shellLoop, '');
  return [...others.matchAll(sleepWord)].some(([, time = '']) => {
    return time === '$' || Number(time) < endlessSeconds;
  });
}
