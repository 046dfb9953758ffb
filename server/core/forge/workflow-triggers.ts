// Reads which events start an Actions workflow, as far as a landing depends on it. Pure.

export interface WorkflowFile {
  /** Relative to the repository. */
  readonly path: string;
  readonly isForPulls: boolean;
  /** Whether a merge queue starts it. */
  readonly isForQueue: boolean;
}

/** Reads the `on` key of a workflow's YAML in all of its forms. */
export function parseWorkflow(path: string, yaml: string): WorkflowFile {
  const lines = yaml.split(/\r?\n/u).map((line) => line.replace(/(?:^|\s)#.*$/u, ''));
  const from = lines.findIndex((line) => /^(?:on|'on'|"on"|true)\s*:/u.test(line));
  const rest = from === -1 ? [] : lines.slice(from + 1);
  const to = rest.findIndex((line) => /^[^\s\]}-]/u.test(line));
  const block = from === -1 ? [] : [lines[from] ?? '', ...(to === -1 ? rest : rest.slice(0, to))];
  const text = block.join('\n');
  return {
    path,
    isForPulls: /\bpull_request(?:_target)?\b/u.test(text),
    isForQueue: /\bmerge_group\b/u.test(text),
  };
}
