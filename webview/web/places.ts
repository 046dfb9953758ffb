// The places that the page can show, and the name of each in the address: the way back is the
// browser's own. Pure.

import type { PanelName, PanelPlace } from './panel-frame.ts';

export type Place =
  | PanelPlace
  | { readonly name: 'review'; readonly id: string }
  | { readonly name: 'devices' };

const panelNames: readonly PanelName[] = ['tree', 'inbox', 'stream', 'grid', 'board', 'run'];

export function panelPlace(name: PanelName, id: string | null = null): PanelPlace {
  return { name, id, attempt: null };
}

/** Equal keys show the same. */
export function placeKey(place: Place): string {
  if (place.name === 'devices') return place.name;
  const attempt = place.name === 'review' ? null : place.attempt;
  const parts = [place.name, place.id, attempt].filter((part) => part !== null);
  return parts.map((part) => encodeURIComponent(part)).join('/');
}

/** Parses `#/stream/parser/2`. Returns null if it names no place. */
export function parsePlace(hash: string): Place | null {
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
