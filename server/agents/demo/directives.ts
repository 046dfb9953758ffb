// The directives of the demo agent in its prompt: one per line, `demo: <name> <arguments>`.

export type Directive =
  | { readonly do: 'write' | 'append'; readonly path: string; readonly text: string }
  | {
      readonly do: 'edit-line';
      readonly path: string;
      readonly line: number;
      readonly text: string;
    }
  | { readonly do: 'delete'; readonly path: string }
  | { readonly do: 'sleep'; readonly ms: number }
  /** Fails in the first `times` attempts. */
  | { readonly do: 'fail'; readonly times: number }
  | { readonly do: 'ask'; readonly text: string; readonly choices: readonly string[] }
  | { readonly do: 'commit'; readonly message: string }
  | { readonly do: 'say' | 'blocked'; readonly text: string }
  | { readonly do: 'flood'; readonly lines: number }
  /** Prints the text at every step until the file exists; {{n}} counts from 0. */
  | { readonly do: 'say-until'; readonly path: string; readonly text: string }
  /** Reports once that the account's limit is reached, for this long. */
  | { readonly do: 'limit'; readonly ms: number }
  | { readonly do: 'nothing' | 'leave-running' | 'crash' }
  | { readonly do: 'unknown'; readonly name: string };

/**
 * Which directives apply: those after `when-planning` for a planning agent, all others for an
 * implementing one.
 */
export type DirectiveReader = 'builder' | 'planner';

/**
 * Lists, quotes and block marks may precede a directive, so that it can be anywhere in a
 * description.
 */
const directiveLine = /^[\s>*+-]*demo:[ \t]*([a-z-]+)[ \t]*(.*?)[ \t\r]*$/gm;

export function findDirectives(prompt: string, reader: DirectiveReader = 'builder'): Directive[] {
  return [...prompt.matchAll(directiveLine)].flatMap(([, name = '', rest = '']) => {
    const isForPlanner = name === 'when-planning';
    if (isForPlanner !== (reader === 'planner')) return [];
    return isForPlanner ? parse(...cutWord(rest)) : parse(name, rest);
  });
}

function parse(name: string, rest: string): Directive {
  const [path, afterPath] = cutWord(rest);
  switch (name) {
    case 'write':
    case 'append':
    case 'say-until':
      return { do: name, path, text: unescape(afterPath) };
    case 'edit-line': {
      const [line, text] = cutWord(afterPath);
      return { do: name, path, line: numberOr(line, 1), text: unescape(text) };
    }
    case 'delete':
      return { do: name, path };
    case 'sleep':
    case 'limit':
      return { do: name, ms: numberOr(rest, 0) };
    case 'fail':
      return { do: name, times: numberOr(rest, Number.MAX_SAFE_INTEGER) };
    case 'ask': {
      const [text = '', ...choices] = rest.split('|').map((part) => part.trim());
      return { do: name, text, choices: choices.length > 0 ? choices : ['yes', 'no'] };
    }
    case 'commit':
      return { do: name, message: rest };
    case 'say':
    case 'blocked':
      return { do: name, text: unescape(rest) };
    case 'flood':
      return { do: name, lines: numberOr(rest, 1_000) };
    case 'nothing':
    case 'leave-running':
    case 'crash':
      return { do: name };
    default:
      return { do: 'unknown', name };
  }
}

function cutWord(text: string): [string, string] {
  const end = text.search(/\s/);
  return end < 0 ? [text, ''] : [text.slice(0, end), text.slice(end).trimStart()];
}

function numberOr(text: string, otherwise: number): number {
  const value = Number(text);
  return text !== '' && Number.isFinite(value) && value >= 0 ? value : otherwise;
}

function unescape(text: string): string {
  return text.replaceAll('\\n', '\n');
}
