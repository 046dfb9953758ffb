// Formats durations, sizes and money for people, independent of the locale.

/** `< 1 s`, `12 s`, `3 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms)) return 'unknown';
  const positive = Math.max(ms, 0);
  if (positive > 0 && positive < 1_000) return '< 1 s';
  const seconds = Math.round(positive / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two(minutes, 'min', seconds % 60, 's');
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return two(hours, 'h', minutes % 60, 'min');
  return two(Math.floor(hours / 24), 'd', hours % 24, 'h');
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = small === 0 ? '' : ` ${small} ${smallUnit}`;
  return `${large} ${largeUnit}${rest}`;
}

/** Quotes the text as one word for a POSIX shell. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** `512 B`, `1.5 KB`, `10 MB`. One unit is 1024 of the next smaller one. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let value = Math.max(bytes, 0);
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits).replace(/\.0$/, '')} ${units[unit] ?? 'TB'}`;
}

/** `$0.00`, `< $0.01`, `$1.25`. */
export function formatCost(usd: number): string {
  if (usd > 0 && usd < 0.01) return '< $0.01';
  return `$${Math.max(usd, 0).toFixed(2)}`;
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Returns for example `1st`, `12th` or `23rd`. */
export function formatOrdinal(position: number): string {
  const teen = position % 100 >= 11 && position % 100 <= 13;
  const ending = teen ? 'th' : (['th', 'st', 'nd', 'rd'][position % 10] ?? 'th');
  return `${position}${ending}`;
}

/** `codex` or `claude:opus`: an agent with the model it is asked for. */
export function stepText(step: { readonly agent: string; readonly model: string | null }): string {
  return step.model === null ? step.agent : `${step.agent}:${step.model}`;
}

/** For consumers that treat these three characters as markup. */
export function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Returns one line for a subject. */
export function firstLineOf(text: string): string {
  return text.split(/[\r\n]/, 1)[0] ?? '';
}
