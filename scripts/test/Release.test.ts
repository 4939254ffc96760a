import { expect, it } from "vitest"
import { repositoryOf } from "../packages/release.ts"

it.each([
  "git@git.example:team/tachograph.git",
  "ssh://git@git.example/team/tachograph.git",
  "https://git.example/team/tachograph.git",
  "https://git.example/team/tachograph",
  "https://user:token@git.example/team/tachograph.git"
])("says where %s is as npm wants it, without a user or a token", (remote) => {
  expect(repositoryOf(remote)).toBe("git+https://git.example/team/tachograph.git")
})
