// Agents' actions in addition to their work, as lines of their shell scripts. `say FILE` writes a
// token, `fault WHY` reports that the attempt may fail by its own fault, and `gone FILE` reports
// that the agent itself removes the tokens of a file.

/** The weight of each in the draw. */
export const agentActs = {
  commit: 8,
  detach: 4,
  orphan: 2,
  'half-a-rebase': 4,
  'half-a-merge': 3,
  bisect: 2,
  'other-branch': 3,
  'take-back': 3,
  fail: 5,
  'red-gate': 4,
  'hide-all': 4,
  'hide-by-flag': 3,
  background: 4,
  'background-hidden': 3,
  repository: 2,
  'lock-index': 2,
  'own-worktree': 2,
  'stage-only': 3,
  'move-file': 2,
  gc: 1,
  slow: 4,
  'lose-pointer': 1,
} as const;

export type AgentAct = keyof typeof agentActs;

/** After a restart, these find another branch or half of their own operation. */
export const movesHead: ReadonlySet<AgentAct> = new Set<AgentAct>([
  'detach',
  'orphan',
  'half-a-rebase',
  'half-a-merge',
  'bisect',
  'other-branch',
  'take-back',
]);

/**
 * Locked by the pruning process, and shared by all other git commands of people and agents: git
 * itself loses a commit that is made while another process prunes. Drover's own commands take no
 * lock.
 */
export const pruningFile = 'pruning';

/** While it exists, agents wait in the middle of their work, so that the engine becomes idle. */
export const holdingFile = 'hold';

const commit = 'git add -A && git commit -qm "by $id"';

export const agentScripts: { readonly [act in AgentAct]: string } = {
  commit: `say "$id-own.txt"; ${commit}`,
  detach: `git checkout -q --detach; say "$id-detached.txt"; ${commit}; say "$id-after.txt"`,
  orphan: `fault orphan; git checkout -q --orphan "lost-$id-$attempt"; say "$id-lost.txt"; ${commit}`,
  'half-a-rebase': `fault rebase; say "$id-one.txt"; ${commit}; say "$id-two.txt"; ${commit}; GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~2; say "$id-mid.txt"`,
  'half-a-merge': `git checkout -q -b "side-$id-$attempt"; say "$id-side.txt"; ${commit}; git checkout -q -; say "$id-here.txt"; ${commit}; git merge -q --no-commit --no-ff "side-$id-$attempt" || fault merge`,
  bisect: `say "$id-one.txt"; ${commit}; git bisect start -q HEAD HEAD~1; say "$id-found.txt"`,
  'other-branch': `git checkout -q -b "mine-$id-$attempt"; say "$id-branch.txt"; ${commit}; say "$id-more.txt"`,
  // A commit fails while a person's command has the index locked; then nothing needs to be undone.
  'take-back': `${commit} && say "$id-regret.txt" && ${commit} && gone "$id-regret.txt" && git reset -q --keep HEAD~1`,
  fail: `say "$id-half.txt"; fault exit; exit 9`,
  'red-gate': `fault red; echo BAD >> "bad-$id.txt"`,
  'hide-all': `mkdir -p src; echo '*' > src/.gitignore; last=hidden`,
  'hide-by-flag': `: > "$stage/flags-\${id%.*}-$attempt"; git update-index --assume-unchanged README.md; git update-index --skip-worktree poem.txt; hidden poem.txt`,
  background: `( sleep 0.15; say "$id-late.txt"; sleep 30 ) > /dev/null 2>&1 &`,
  // It waits until another task has the folder.
  'background-hidden': `env -i PATH="$PATH" setsid sh -c 'n=0; until grep drover/ "$3" | grep -qv "drover/$4/"; do n=$((n+1)); [ $n -lt 150 ] || exit; sleep 0.1; done; sleep 0.2; echo "$1" >> "$2"; sleep 20' sh "$(token)" "$here/stray-$id.txt" "$(git rev-parse --git-dir)/HEAD" "\${id%.*}" > /dev/null 2>&1 &`,
  repository: `mkdir -p "nested-$id"; git -C "nested-$id" init -q; echo inner > "nested-$id/inner.txt"; git -C "nested-$id" add -A; git -C "nested-$id" commit -qm inner`,
  'lock-index': 'touch "$(git rev-parse --git-dir)/index.lock"',
  'own-worktree': `git worktree add -q --detach "$stage/agent-$id-$attempt"; hidden "$stage/agent-$id-$attempt/$id-beside.txt"`,
  'stage-only': `say "$id-staged.txt"; git add "$id-staged.txt"; gone "$id-staged.txt"; echo changed > "$id-staged.txt"`,
  // An agent of the same attempt may have hidden the file with an index flag.
  'move-file': `how=say; [ ! -e "$stage/flags-\${id%.*}-$attempt" ] || how=hidden; git mv -f README.md "readme-$id.md"; $how "readme-$id.md"; git mv "readme-$id.md" README.md`,
  // Git itself loses the autostash of an open rebase.
  gc: `[ -e "$stage/repo/.git/rebase-merge/autostash" ] || flock -o "$stage/${pruningFile}" git gc -q --prune=now`,
  slow: 'sleep 0.6',
  'lose-pointer': 'fault pointer; rm -f .git',
};

/**
 * The agent of every task. Its ledger records its writes, its start, and any unexpected finding. An
 * attempt's additional actions, if any, are in a separate file. Failed writes are not recorded,
 * because they cannot be lost.
 */
export const agentBody = `
here=$(pwd)
stage=\${here%/*/*}
ledger="$stage/ledger"
n=0
git() { flock -o -s "$stage/${pruningFile}" git "$@"; }
token() { n=$((n+1)); echo "tok:$id:$attempt:$$:$n;"; }
say() { n=$((n+1)); echo "tok:$id:$attempt:$$:$n;" >> "$1" && echo "w tok:$id:$attempt:$$:$n;" >> "$ledger"; }
hidden() { say "$1" && echo "u tok:$id:$attempt:$$:$n;" >> "$ledger"; }
gone() { sed 's/^/r /' "$1" >> "$ledger"; }
fault() { echo "f $id $attempt $1" >> "$ledger"; }
held() { while [ -e "$stage/${holdingFile}" ]; do sleep 0.03; done; }
cat > /dev/null
if [ ! -e "$stage/seen-$id-$attempt" ]; then
  : > "$stage/seen-$id-$attempt"
  found=$(git status --porcelain --ignored | tr '\\n' ' ')
  [ -z "$found" ] || echo "d $id $attempt $found" >> "$ledger"
fi
echo "s $id $attempt $$" >> "$ledger"
rm -f bad-*.txt
last=say
. "$stage/plans/$id"
say "$id.txt"
[ -z "$shares" ] || say shared.txt
held
if [ -e "$stage/acts/$id.$attempt" ]; then set +e; . "$stage/acts/$id.$attempt"; set -e; fi
sleep "$pace"
held
say "$id.txt"
mkdir -p src
! git check-ignore -q "src/$id.txt" || last=hidden
# Without its pointer git does not tell what an earlier part has hidden.
[ -e .git ] || [ ! -e src/.gitignore ] || last=hidden
$last "src/$id.txt"
held
echo "e $id $attempt" >> "$ledger"
`;
