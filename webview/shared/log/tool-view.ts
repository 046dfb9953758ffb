// How a tool call is displayed: its icon, its title, its edits, and its input as text. The names
// are those of Claude Code's tools; an unknown tool is shown by its name and input.

import { diffLines, type DiffLine } from '../text/line-diff.ts';
import type { IconName } from '../looks/icon.ts';
import { visibleLine } from '../looks/visible-text.ts';

export interface EditView {
  readonly path: string | null;
  readonly lines: readonly DiffLine[];
}

const iconOfTool: Readonly<Record<string, IconName>> = {
  Bash: 'terminal',
  BashOutput: 'terminal',
  KillShell: 'terminal',
  Read: 'file',
  Write: 'new-file',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'notebook',
  Glob: 'search',
  Grep: 'search',
  WebFetch: 'globe',
  WebSearch: 'globe',
  TodoWrite: 'checklist',
  Task: 'robot',
  Agent: 'robot',
  ExitPlanMode: 'list-ordered',
  AskUserQuestion: 'question',
  LSP: 'symbol-misc',
};

const inputTextMax = 200_000;
const editsMax = 50;

export function toolIcon(name: string): IconName {
  if (name.startsWith('mcp__')) return 'plug';
  return Object.hasOwn(iconOfTool, name) ? (iconOfTool[name] ?? 'tools') : 'tools';
}

/** The tool's name, and its subject: `title` of the log starts with the name. */
export function toolTitle(name: string, title: string): { name: string; about: string } {
  const shown = visibleLine(name) || 'Tool';
  const whole = visibleLine(title);
  const about = whole.startsWith(shown) ? whole.slice(shown.length).trim() : whole;
  return { name: shown, about };
}

/** Converts absolute paths in the agent's worktree to paths in the repository. */
export function insideWorktree(text: string, worktree: string | null): string {
  return worktree === null || worktree === '' ? text : text.replaceAll(`${worktree}/`, '');
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(input: unknown): Fields {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? (input as Fields)
    : {};
}

function textField(fields: Fields, key: string): string | null {
  const value = fields[key];
  return typeof value === 'string' ? value : null;
}

/** The file changes that a call requests; empty if the call is not an edit. */
export function parseEdits(name: string, input: unknown): EditView[] {
  const fields = fieldsOf(input);
  const path = textField(fields, 'file_path') ?? textField(fields, 'notebook_path');
  switch (name) {
    case 'Write': {
      const content = textField(fields, 'content');
      return content === null ? [] : [{ path, lines: diffLines('', content) }];
    }
    case 'Edit':
    case 'MultiEdit': {
      const list = fields['edits'];
      const edits = Array.isArray(list) ? list.slice(0, editsMax).map(fieldsOf) : [fields];
      return edits.flatMap((edit): EditView[] => {
        const before = textField(edit, 'old_string');
        const after = textField(edit, 'new_string');
        if (before === null || after === null) return [];
        return [{ path, lines: diffLines(before, after) }];
      });
    }
    case 'NotebookEdit': {
      const source = textField(fields, 'new_source');
      return source === null ? [] : [{ path, lines: diffLines('', source) }];
    }
    default:
      return [];
  }
}

export function parseFilePath(input: unknown): string | null {
  const fields = fieldsOf(input);
  return (
    textField(fields, 'file_path') ??
    textField(fields, 'notebook_path') ??
    textField(fields, 'path')
  );
}

/** A call's input in readable form: a command unchanged, other fields by name. */
export function inputText(name: string, input: unknown): string {
  const fields = fieldsOf(input);
  const command = textField(fields, 'command');
  if (name === 'Bash' && command !== null) {
    const why = textField(fields, 'description');
    return why === null ? command : `# ${why}\n${command}`;
  }
  if (typeof input === 'string') return input.slice(0, inputTextMax);
  const parts = Object.entries(fields).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    return text.includes('\n') ? `${key}:\n${text}` : `${key}: ${text}`;
  });
  return parts.join('\n').slice(0, inputTextMax);
}

/** `+3 −1`: a folded row's summary of its edits. */
export function editCounts(edits: readonly EditView[]): { added: number; removed: number } {
  const lines = edits.flatMap((edit) => edit.lines);
  return {
    added: lines.filter((line) => line.kind === 'added').length,
    removed: lines.filter((line) => line.kind === 'removed').length,
  };
}
