/** The commit that runs: from the variables of hosts and CI systems, otherwise from `.git`, without calling git. */
import { builtin, variable } from "../platform/Builtins.ts"
import * as Pack from "./Pack.ts"

export interface Commit {
  readonly git_repository_url?: string | undefined
  readonly git_branch?: string | undefined
  readonly git_commit_hash?: string | undefined
  readonly git_commit_date?: string | undefined
}

/** A path, and no address of a host. */
const path = /^(?:[./~]|[A-Za-z]:[\\/])/

/** Without what stands before the last `@`, whatever that is: of an address that cannot be read, credentials could be anywhere. */
const afterAt = (address: string): string => address.slice(address.lastIndexOf("@") + 1)

/** A URL without user, password, query and fragment. An address such as `git@host:path` stays as it is. */
export const withoutCredentials = (url: string): string => {
  const [, scheme, rest = ""] = /^([A-Za-z][\w+.-]*:\/\/)(.*)$/s.exec(url) ?? []
  if (scheme === undefined) {
    const user = url.slice(0, Math.max(0, url.indexOf("@")))
    return path.test(url) || !user.includes(":") ? url : afterAt(url)
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  // The password of `https://user:12/34@host/path` is read as a port and a part of the path.
  if (parsed === undefined || (parsed.port !== "" && /[^/]@/.test(parsed.pathname + parsed.search + parsed.hash))) {
    return `${scheme}${afterAt(rest).replace(/[?#].*$/s, "")}`
  }
  parsed.username = ""
  parsed.password = ""
  parsed.search = ""
  parsed.hash = ""
  return parsed.href
}

/** Names of variables: the commit, the branch, the address, and the date. `{A}/{B}` is put together from two. */
const hosts: ReadonlyArray<readonly [string, string, string?, string?]> = [
  ["GITHUB_SHA", "GITHUB_REF_NAME", "{GITHUB_SERVER_URL}/{GITHUB_REPOSITORY}"],
  ["CI_COMMIT_SHA", "CI_COMMIT_REF_NAME", "{CI_PROJECT_URL}", "{CI_COMMIT_TIMESTAMP}"],
  [
    "VERCEL_GIT_COMMIT_SHA",
    "VERCEL_GIT_COMMIT_REF",
    "https://{VERCEL_GIT_PROVIDER}.com/{VERCEL_GIT_REPO_OWNER}/{VERCEL_GIT_REPO_SLUG}"
  ],
  ["COMMIT_REF", "BRANCH", "{REPOSITORY_URL}"],
  ["RENDER_GIT_COMMIT", "RENDER_GIT_BRANCH", "https://github.com/{RENDER_GIT_REPO_SLUG}"],
  [
    "RAILWAY_GIT_COMMIT_SHA",
    "RAILWAY_GIT_BRANCH",
    "https://github.com/{RAILWAY_GIT_REPO_OWNER}/{RAILWAY_GIT_REPO_NAME}"
  ],
  ["CF_PAGES_COMMIT_SHA", "CF_PAGES_BRANCH"],
  ["HEROKU_BUILD_COMMIT", "HEROKU_BRANCH"],
  ["HEROKU_SLUG_COMMIT", "HEROKU_BRANCH"],
  ["BITBUCKET_COMMIT", "BITBUCKET_BRANCH", "{BITBUCKET_GIT_HTTP_ORIGIN}"],
  ["CIRCLE_SHA1", "CIRCLE_BRANCH", "{CIRCLE_REPOSITORY_URL}"],
  ["BUILDKITE_COMMIT", "BUILDKITE_BRANCH", "{BUILDKITE_REPO}"],
  ["BUILD_SOURCEVERSION", "BUILD_SOURCEBRANCHNAME", "{BUILD_REPOSITORY_URI}"],
  ["CODEBUILD_RESOLVED_SOURCE_VERSION", "CODEBUILD_WEBHOOK_HEAD_REF", "{CODEBUILD_SOURCE_REPO_URL}"],
  ["GIT_COMMIT", "GIT_BRANCH", "{GIT_URL}"]
]

/** Undefined where a variable is missing. */
const filled = (template: string | undefined): string | undefined => {
  if (template === undefined) return undefined
  let isWhole = true
  const text = template.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const value = variable(name)
    isWhole &&= value !== undefined
    return value ?? ""
  })
  return isWhole ? text : undefined
}

export const ofVariables = (): Commit | undefined => {
  for (const [hash, branch, url, date] of hosts) {
    const git_commit_hash = variable(hash)
    if (git_commit_hash === undefined) continue
    const address = filled(url)
    return {
      git_commit_hash,
      git_branch: variable(branch),
      git_repository_url: address === undefined ? undefined : withoutCredentials(address),
      git_commit_date: filled(date)
    }
  }
  return undefined
}

interface Files {
  readonly read: (...path: ReadonlyArray<string>) => Promise<string | undefined>
  readonly bytes: (...path: ReadonlyArray<string>) => Promise<Uint8Array | undefined>
  /** The compressed text of a commit in a pack, and what follows it. */
  readonly packed: (folder: string, hash: string) => Promise<Uint8Array | undefined>
  readonly resolve: (...path: ReadonlyArray<string>) => string
  readonly parent: (path: string) => string
  readonly inflate: (bytes: Uint8Array) => string | undefined
}

const files = (): Files | undefined => {
  const [fs, path, zlib] = [builtin("fs"), builtin("path"), builtin("zlib")]
  if (fs === undefined || path === undefined || zlib === undefined) return undefined
  return {
    read: (...parts) => fs.promises.readFile(path.join(...parts), "utf8").catch(() => undefined),
    bytes: (...parts) => fs.promises.readFile(path.join(...parts)).catch(() => undefined),
    packed: (folder, hash) => Pack.find({ fs, path }, path.join(folder, "objects", "pack"), hash),
    resolve: path.resolve,
    parent: path.dirname,
    inflate: (bytes) => {
      try {
        // What follows is not looked at.
        const { Z_SYNC_FLUSH } = zlib.constants
        const options = { maxOutputLength: 1024 * 1024, finishFlush: Z_SYNC_FLUSH }
        return zlib.inflateSync(bytes, options).toString("utf8")
      } catch {
        return undefined
      }
    }
  }
}

/** The folder of the repository that a folder belongs to, and the one that its worktrees share. */
const repositoryOf = async (from: string, { parent, read, resolve }: Files) => {
  for (let folder = from; ; folder = parent(folder)) {
    if ((await read(folder, ".git", "HEAD")) !== undefined) {
      const own = resolve(folder, ".git")
      return { own, shared: own }
    }
    // A worktree or a submodule has a file instead.
    const pointer = /^gitdir: (.*)$/m.exec((await read(folder, ".git")) ?? "")?.[1]
    if (pointer !== undefined) {
      const own = resolve(folder, pointer.trim())
      const shared = await read(own, "commondir")
      return { own, shared: shared === undefined ? own : resolve(own, shared.trim()) }
    }
    if (parent(folder) === folder) return undefined
  }
}

/** The date of a commit, in ISO 8601. */
const dateOf = async (shared: string, hash: string, { bytes, inflate, packed }: Files): Promise<string | undefined> => {
  const loose = await bytes(shared, "objects", hash.slice(0, 2), hash.slice(2))
  const object = loose ?? (await packed(shared, hash))
  const seconds = /^committer .* (\d+) [+-]\d{4}$/m.exec((object && inflate(object)) ?? "")?.[1]
  return seconds === undefined ? undefined : new Date(Number(seconds) * 1000).toISOString()
}

const hash = /^[0-9a-f]{40,64}$/

export const ofRepository = async (from: string): Promise<Commit | undefined> => {
  const access = files()
  const repository = access && (await repositoryOf(from, access))
  if (access === undefined || repository === undefined) return undefined
  const { own, shared } = repository
  const head = (await access.read(own, "HEAD"))?.trim() ?? ""
  const reference = /^ref: (.*)$/.exec(head)?.[1]
  const packed = async (name: string) =>
    ((await access.read(shared, "packed-refs")) ?? "")
      .split("\n")
      .find((line) => line.endsWith(` ${name}`))
      ?.split(" ")[0]
  const commit =
    reference === undefined ? head : ((await access.read(shared, reference))?.trim() ?? (await packed(reference)) ?? "")
  if (!hash.test(commit)) return undefined
  const config = (await access.read(shared, "config")) ?? ""
  const origin = /^\[remote "origin"\]\s*$(?:\n(?!\[).*)*?\n\s*url\s*=\s*(.+?)\s*$/m.exec(config)?.[1]
  return {
    git_commit_hash: commit,
    git_branch: reference?.replace(/^refs\/heads\//, ""),
    git_repository_url: origin === undefined ? undefined : withoutCredentials(origin),
    git_commit_date: await dateOf(shared, commit, access)
  }
}
