import type { BuildOptions } from 'esbuild';

/** What a `drover` command needs at run time: their names and sources. */
export const commandPrograms: Readonly<Record<string, string>>;

/** How the programs are bundled: names and sources of the entries, and the folder that they are written to. */
export function programBundles(
  entryPoints: Readonly<Record<string, string>>,
  outdir: string,
): BuildOptions;

/** The same for programs that are copied to other hosts: one file each. */
export function copiedBundles(
  entryPoints: Readonly<Record<string, string>>,
  outdir: string,
): BuildOptions;
