import type { Metafile } from 'esbuild';

export const optionalPackages: readonly string[];

export function missingPackages(metafile: Pick<Metafile, 'outputs'>): string[];

export function bundledPackages(metafiles: readonly Pick<Metafile, 'inputs'>[]): string[];
