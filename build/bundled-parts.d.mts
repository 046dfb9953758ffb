import type { Metafile } from 'esbuild';

/** The file of each chunk that shares one. */
export function partsOf(outputs: Metafile['outputs']): Map<string, string>;

/** Asks for chunks where they are. */
export function requireFromParts(
  code: string,
  own: string,
  parts: ReadonlyMap<string, string>,
): string;

/** One file of several chunks, with the map of their maps. */
export function partOf(
  chunks: readonly { readonly name: string; readonly code: string; readonly map: string }[],
): { readonly code: string; readonly map: string };
