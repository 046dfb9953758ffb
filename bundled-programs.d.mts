import type { BuildOptions } from 'esbuild';

/** How the programs are bundled: names and sources of the entries, and the folder that they are written to. */
export function programBundles(
  entryPoints: Readonly<Record<string, string>>,
  outdir: string,
): BuildOptions;
