// The locations that the page can show, and their addresses; the browser's own history goes back.
// Pure.

import type { PanelName, PanelPlace } from './panel-frame.ts';

export type Place =
  | PanelPlace
  | { readonly name: 'review'; readonly id: string }
  | { readonly name: 'devices' };

const panelNames: readonly PanelName[] = [
  'tree',
  'inbox',
  'stream',
  'grid',
  'board',
  'run',
  'worktrees',
];

export function panelPlace(name: PanelName, id: string | null = null): PanelPlace {
  return { name, id, attempt: null };
}

/** Equal keys show the same location. */
export function placeKey(place: Place): string {
  if (place.name === 'devices') return place.name;
  const attempt = place.name === 'review' ? null : place.attempt;
  const parts = [place.name, place.id, attempt].filter((part) => part !== null);
  return parts.map((part) => encodeURIComponent(part)).join('/');
}

/** `#/stream/parser/2`, and with a project `#/~0123456789ab/stream/parser/2`. */
export function placeUrl(place: Place, project: string | null): string {
  return `#/${project === null ? '' : `~${project}/`}${placeKey(place)}`;
}

/** Returns null if the address names no project. */
export function parseProject(hash: string): string | null {
  return /^#\/~([0-9a-f]{12})(?:\/|$)/u.exec(hash)?.[1] ?? null;
}

/** Parses `#/stream/parser/2`. Returns null if it names no location. */
export function parsePlace(address: string): Place | null {
  const hash = address.replace(/^#\/~[0-9a-f]{12}\//u, '#/');
  if (!hash.startsWith('#/')) return null;
  const [name, id = null, attempt = null] = hash.slice(2).split('/').map(decoded);
  if (name === 'devices') return { name };
  if (name === 'review') return id === null ? null : { name, id };
  const panel = panelNames.find((each) => each === name);
  if (panel === undefined || (panel === 'stream' && id === null)) return null;
  const number = attempt === null ? null : Number(attempt);
  return { name: panel, id, attempt: Number.isInteger(number) ? number : null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
