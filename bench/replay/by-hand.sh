#!/bin/sh
# One agent after the other in a worktree of its own, merged by hand. Also the shortest program
# that keeps the contract of the mode `program` (README.md of the bench).
worktree=$(dirname "$REPLAY_TASKS")/by-hand
sed 's/^{"id":"\([^"]*\)".*/\1/' "$REPLAY_TASKS" | while read -r id; do
  git worktree add -q -b "work-$id" "$worktree" main
  (cd "$worktree" && TASK_ID=$id "$REPLAY_AGENT" < /dev/null)
  if git merge -q --no-ff -m "Merge $id" "work-$id"; then
    "$REPLAY_GATE" || git reset -q --hard HEAD^1
  else
    git merge --abort
  fi
  git worktree remove --force "$worktree"
done
