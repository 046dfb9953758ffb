// The scripted agent and the gate of a replay, as shell programs that every side of a comparison
// runs. Both record their starts and ends in one journal.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { script } from '../repositories.ts';
import type { ReplayTask, Span } from '../../test/replay/plan.ts';

export interface Scripts {
  readonly agent: string;
  readonly gate: string;
  /** Returns an additional name of the task for the agent. */
  name(id: string, other: string): void;
  journal(): readonly Noted[];
}

export interface Noted {
  readonly what: 'start' | 'done' | 'gate' | 'pass' | 'fail';
  /** The task, or the tree of a gate. */
  readonly of: string;
  readonly atMs: number;
}

/**
 * The agent applies its change with a three-way merge onto the commit that it finds. In lines that
 * it cannot merge, it writes its own version, like an agent that does not know the other change. If
 * a later change of the history is already there, that change's lines are newer. A commit without
 * changes reports that nothing is left to do.
 */
function agentText(folder: string, base: string): string {
  return `
id=$(cat '${folder}/names/'"\${DROVER_TASK_ID:-$TASK_ID}")
read -r commit first rest < '${folder}/tasks/'"$id"
note() { echo "$1 $id $(date +%s%3N)" >> '${folder}/journal'; }
pick() { git reset -q --hard && git clean -fdq && git cherry-pick --no-commit -m 1 "$@" "$commit" > /dev/null 2>&1; }
unmerged() { git -c core.quotepath=off diff --name-only --diff-filter=U | sort -u; }
note start
sleep "$first"
if ! pick; then
  paths=$(unmerged)
  mine=theirs
  from=$commit
  for other in $(git log --format=%B ${base}..HEAD | grep -oE '^replay-c[0-9]+' | sort -u); do
    expr "$other" '>' "$id" > /dev/null || continue
    if echo "$paths" | grep -qxFf '${folder}/files/'"$other"; then mine=ours; from=HEAD; fi
  done
  if ! pick -X "$mine"; then
    unmerged | while read -r path; do
      git checkout -q "$from" -- "$path" 2> /dev/null || git rm -qf --ignore-unmatch -- "$path"
    done
  fi
fi
sleep "$rest"
git commit -q --allow-empty --no-verify -m "$id"
note done
`;
}

function gateText(folder: string, seed: number, span: Span, check: string): string {
  const extent = span.toMs - span.fromMs;
  return `
tree=$(git rev-parse 'HEAD^{tree}')
note() { echo "$1 $tree $(date +%s%3N)" >> '${folder}/journal'; }
note gate
drawn=$(printf '%s %s' ${seed} "$tree" | cksum | cut -d' ' -f1)
sleep "$(awk "BEGIN { print (${span.fromMs} + $drawn % 1000 * ${extent} / 1000) / 1000 }")"
if (${check}); then note pass; else note fail; exit 1; fi
`;
}

/** Every object of the tree exists, and the work has added no conflict markers. */
export function usualCheck(base: string): string {
  return (
    `! git ls-tree -r HEAD | grep -v ' commit ' | cut -d' ' -f3 | cut -f1 | git cat-file --batch-check | grep missing; ` +
    `[ $? = 0 ] && ! git diff ${base} HEAD | grep -E '^[+](<{7}|>{7}) '`
  );
}

export function writeScripts(
  folder: string,
  tasks: readonly ReplayTask[],
  plan: {
    readonly base: string;
    readonly seed: number;
    readonly gate: Span;
    readonly check: string | null;
  },
): Scripts {
  for (const name of ['tasks', 'files', 'names']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'journal'), '');
  const name = (id: string, other: string): void =>
    writeFileSync(join(folder, 'names', other), `${id}\n`);
  for (const { id, commit, files, firstMs, restMs } of tasks) {
    name(id, id);
    writeFileSync(join(folder, 'tasks', id), `${commit} ${firstMs / 1000} ${restMs / 1000}\n`);
    writeFileSync(join(folder, 'files', id), `${files.join('\n')}\n`);
  }
  const check = plan.check ?? usualCheck(plan.base);
  return {
    agent: script(folder, 'agent', agentText(folder, plan.base)),
    gate: script(folder, 'gate', gateText(folder, plan.seed, plan.gate, check)),
    name,
    journal: () => readJournal(readFileSync(join(folder, 'journal'), 'utf8')),
  };
}

export function readJournal(text: string): readonly Noted[] {
  return text.split('\n').flatMap((line) => {
    const [what = '', of = '', at] = line.split(' ');
    return at === undefined ? [] : [{ what: what as Noted['what'], of, atMs: Number(at) }];
  });
}
