import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, promises, readdirSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import { dirname, join } from "node:path"
import { afterEach, describe, expect, it, vi } from "vitest"
import * as Git from "../../src/fingerprint/Git.ts"
import * as Packages from "../../src/fingerprint/Packages.ts"
import { temporaryFolder } from "../process/Child.ts"
import { startRecording } from "../Recording.ts"

const write = (folder: string, files: Readonly<Record<string, unknown>>) => {
  for (const [name, content] of Object.entries(files)) {
    const file = join(folder, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content))
  }
}

const git = (cwd: string, ...args: ReadonlyArray<string>) =>
  execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main", ...args], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], GIT_COMMITTER_DATE: "2026-01-02T03:04:05+0100", GIT_CONFIG_GLOBAL: "/dev/null" }
  }).trim()

const repository = () => {
  const folder = temporaryFolder()
  git(folder, "init", "--quiet")
  git(folder, "remote", "add", "origin", "https://user:planted-token@git.example/owner/repo.git?token=planted")
  git(folder, "commit", "--quiet", "--allow-empty", "-m", "First")
  return { folder, hash: git(folder, "rev-parse", "HEAD") }
}

const expected = (hash: string) => ({
  git_commit_hash: hash,
  git_branch: "main",
  git_repository_url: "https://git.example/owner/repo.git",
  git_commit_date: "2026-01-02T02:04:05.000Z"
})

const { argv } = process

afterEach(() => {
  vi.unstubAllEnvs()
  process.argv = [...argv]
})

describe("the commit", () => {
  it("is read from .git, from any folder of the repository", async () => {
    const { folder, hash } = repository()
    mkdirSync(join(folder, "a/b"), { recursive: true })
    expect(await Git.ofRepository(join(folder, "a/b"))).toEqual(expected(hash))
  })

  it("is read where references are packed, HEAD is a commit, and in a worktree", async () => {
    const { folder, hash } = repository()
    const worktree = join(temporaryFolder(), "tree")
    git(folder, "worktree", "add", "--quiet", "-b", "side", worktree)
    expect(await Git.ofRepository(worktree)).toEqual({ ...expected(hash), git_branch: "side" })
    git(folder, "pack-refs", "--all")
    expect(await Git.ofRepository(folder)).toEqual(expected(hash))
    git(folder, "checkout", "--quiet", "--detach")
    expect(await Git.ofRepository(folder)).toEqual({ ...expected(hash), git_branch: undefined })
  })

  it("is read from a pack, as of a fresh clone", async () => {
    const { folder } = repository()
    for (let n = 0; n < 20; n++) git(folder, "commit", "--quiet", "--allow-empty", "-m", `Commit ${n}`)
    const head = git(folder, "rev-parse", "HEAD")
    git(folder, "gc", "--quiet")
    expect(existsSync(join(folder, ".git/objects", head.slice(0, 2), head.slice(2)))).toBe(false)
    expect(await Git.ofRepository(folder)).toEqual(expected(head))
  })

  it("has no date where a pack is damaged", async () => {
    const { folder, hash } = repository()
    git(folder, "gc", "--quiet")
    const packs = join(folder, ".git/objects/pack")
    for (const name of readdirSync(packs)) {
      rmSync(join(packs, name), { force: true })
      writeFileSync(join(packs, name), "")
    }
    expect(await Git.ofRepository(folder)).toEqual({ ...expected(hash), git_commit_date: undefined })
  })

  it("is unknown outside of a repository and before the first commit", async () => {
    const folder = temporaryFolder()
    expect(await Git.ofRepository(folder)).toBeUndefined()
    git(folder, "init", "--quiet")
    expect(await Git.ofRepository(folder)).toBeUndefined()
  })

  it.each([
    ["https://github.com/o/r.git", "https://github.com/o/r.git"],
    ["https://x-access-token:planted@github.com/o/r", "https://github.com/o/r"],
    ["ssh://git:planted@host:22/o/r", "ssh://host:22/o/r"],
    ["git@github.com:o/r.git", "git@github.com:o/r.git"],
    ["user:planted@host:o/r.git", "host:o/r.git"],
    ["/srv/r.git", "/srv/r.git"],
    ["/srv/a:b@c/r.git", "/srv/a:b@c/r.git"],
    ["https://oauth2:planted/cd@gitlab.com/x.git", "https://gitlab.com/x.git"],
    ["https://user:planted#k@host/x", "https://host/x"],
    ["https://user:12/planted@host/x?token=planted#planted", "https://host/x"],
    ["https://planted@p@host/x", "https://host/x"],
    ["user:planted/cd@host:o/r.git", "host:o/r.git"],
    ["user:planted@p@host:o/r.git", "host:o/r.git"],
    ["git@github.com:o/r@v2.git", "git@github.com:o/r@v2.git"],
    ["https://host:8443/@org/r.git", "https://host:8443/@org/r.git"]
  ])("has no credentials in its URL: %s", (url, without) => {
    expect(Git.withoutCredentials(url)).toBe(without)
  })

  it.each<[string, Record<string, string>, Git.Commit]>([
    [
      "GitHub",
      { GITHUB_SHA: "a1", GITHUB_REF_NAME: "b", GITHUB_SERVER_URL: "https://github.com", GITHUB_REPOSITORY: "o/r" },
      {
        git_commit_hash: "a1",
        git_branch: "b",
        git_repository_url: "https://github.com/o/r",
        git_commit_date: undefined
      }
    ],
    [
      "GitLab",
      {
        CI_COMMIT_SHA: "a2",
        CI_COMMIT_REF_NAME: "b",
        CI_PROJECT_URL: "https://u:planted@gitlab.com/o/r",
        CI_COMMIT_TIMESTAMP: "2026-01-01T00:00:00Z"
      },
      {
        git_commit_hash: "a2",
        git_branch: "b",
        git_repository_url: "https://gitlab.com/o/r",
        git_commit_date: "2026-01-01T00:00:00Z"
      }
    ],
    [
      "Vercel, of which parts are missing",
      { VERCEL_GIT_COMMIT_SHA: "a3", VERCEL_GIT_PROVIDER: "github" },
      { git_commit_hash: "a3", git_branch: undefined, git_repository_url: undefined, git_commit_date: undefined }
    ]
  ])("is read from the variables of %s", (_name, variables, commit) => {
    for (const name of ["GITHUB_SHA", "CI_COMMIT_SHA"]) vi.stubEnv(name, "")
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    expect(Git.ofVariables()).toEqual(commit)
  })
})

describe("packages", () => {
  const application = () => {
    const folder = temporaryFolder()
    write(folder, {
      "package.json": { dependencies: { openai: "*", "@a/b": "*", missing: "*" }, devDependencies: { dev: "*" } },
      "node_modules/openai/package.json": { version: "7.0.0" },
      "node_modules/@a/b/package.json": { version: "2.0.0" },
      "node_modules/dev/package.json": { version: "3.0.0" },
      "node_modules/broken/package.json": "{",
      "node_modules/.bin/tool": "",
      "src/main.js": ""
    })
    return join(folder, "src")
  }

  it.each([
    ["direct", { openai: "7.0.0", "@a/b": "2.0.0" }],
    ["all", { openai: "7.0.0", "@a/b": "2.0.0", dev: "3.0.0" }],
    ["none", {}]
  ] as const)("are the %s ones", async (scope, versions) => {
    expect(await Packages.installed(application(), scope)).toEqual(versions)
  })

  it.each([
    ["node_modules/next/dist/bin/next"],
    ["node_modules/.pnpm/next@1/node_modules/next/dist/bin/next"],
    ["src/main.js"]
  ])("are those of the application that is started as %s", async (program) => {
    const folder = dirname(application())
    const own = { version: "1.0.0", dependencies: { openai: "*" } }
    write(
      folder,
      Object.fromEntries(["", ".pnpm/next@1/node_modules/"].map((at) => [`node_modules/${at}next/package.json`, own]))
    )
    process.argv[1] = join(folder, program)
    const found = await Packages.applicationFolder()
    expect(await Packages.installed(found!, "direct")).toEqual({ openai: "7.0.0", "@a/b": "2.0.0" })
  })

  it("are those of the working directory where the program is installed for all", async () => {
    process.argv[1] = join(temporaryFolder(), "lib/node_modules/pm2/bin/pm2")
    expect(await Packages.applicationFolder()).toBe(process.cwd())
  })

  it("are read a few at a time", async () => {
    const folder = application()
    const names = Array.from({ length: 50 }, (_, n) => `node_modules/p${n}/package.json`)
    write(dirname(folder), Object.fromEntries(names.map((name) => [name, { version: "1.0.0" }])))
    let [active, most] = [0, 0]
    const { readFile } = promises
    const spy = vi.spyOn(promises, "readFile").mockImplementation((async (...args: Parameters<typeof readFile>) => {
      most = Math.max(most, ++active)
      return readFile(...args).finally(() => void active--)
    }) as never)
    const versions = await Packages.installed(folder, "all").finally(() => spy.mockRestore())
    expect(Object.keys(versions)).toHaveLength(53)
    expect(most).toBeLessThanOrEqual(2)
  })

  it("have the versions of the SDKs apart", async () => {
    expect(await Packages.sdkVersions(application())).toEqual({ provider1_sdk_version: "7.0.0" })
    expect(await Packages.sdkVersions(temporaryFolder())).toEqual({})
  })
})

it("is registered once for all events, with the fields that the application gives", async () => {
  const { events, recorder, tachograph } = await startRecording({ fingerprint: { git_branch: "mine" } })
  recorder.record({ api: "aisdk", inputs: {}, output: {}, session: "s" })
  recorder.record({ api: "aisdk", inputs: {}, output: {}, session: "s" })
  const ids = new Set((await events()).map(({ fingerprint_id }) => fingerprint_id))
  expect(ids.size).toBe(1)
  const stored = await tachograph.api.getFingerprint({ fingerprint_id: [...ids][0]! })
  expect(stored).toMatchObject({
    language: "javascript",
    language_version: `node ${process.versions.node}`,
    git_branch: "mine"
  })
})

it("leaves out what may not be read, and keeps no event from being sent", async () => {
  const refused = vi.spyOn(os, "release").mockImplementation(() => {
    throw new Error("Requires sys access")
  })
  try {
    const { drops, events, recorder, tachograph } = await startRecording()
    recorder.record({ api: "aisdk", inputs: {}, output: {}, session: "s" })
    const [event] = await events()
    expect(await tachograph.api.getFingerprint({ fingerprint_id: event!.fingerprint_id })).toMatchObject({
      system: `${process.platform} ${process.arch}`
    })
    expect(drops).toEqual([])
  } finally {
    refused.mockRestore()
  }
})
