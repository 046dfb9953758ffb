// How a compatibility number is stored in DBOS's column for application versions.

const prefix = 'drover-';

/** For workflows that any process can continue. */
export const anyRelease = `${prefix}any`;

export function formatRelease(compatibility: number): string {
  return `${prefix}${compatibility}`;
}

/** Returns null if any process can continue it. */
export function parseCompatibility(release: string | null): number | null {
  const number = Number((release ?? '').slice(prefix.length));
  return release?.startsWith(prefix) === true && Number.isInteger(number) ? number : null;
}
