/**
 * What coding agents say of their calls: who they are, to which session a call belongs, and which sub-agent makes it. A header counts only as
 * sent by the program that has it: applications set others of these names to what they like, some to one value for all their calls.
 */
import { get, parsed, text } from "@tachograph/formats/json/Read"

export interface ProgramNames {
  readonly agent?: string | undefined
  readonly version?: string | undefined
  /** Kept when the program resumes or compacts it. A fork is another one. */
  readonly session?: string | undefined
  /** The part of the program that makes the call, where it is not the one that speaks with the user. */
  readonly subagent?: string | undefined
}

/** The value of a header, by its name in lower case. */
type ValueOf = (name: string) => string | null | undefined

interface Program {
  readonly agent: string
  /** How its `User-Agent` begins. The group is the version. */
  readonly product: RegExp
  /** A header that only this program sends, also where a gateway has replaced `User-Agent`. */
  readonly mark?: readonly [name: string, value: RegExp]
  /** The headers that may have the session: the first that is there does. */
  readonly session: ReadonlyArray<string>
  /** Those that may have the sub-agent: what is not the session is one. */
  readonly subagent: ReadonlyArray<string>
}

const claudeCodeSession = "x-claude-code-session-id"
const ofOpencode = ["x-session-id", "x-session-affinity", "x-opencode-session"]

const programs: ReadonlyArray<Program> = [
  {
    agent: "claude-code",
    product: /^claude-(?:cli|code)\/([^\s/;()]+)/,
    mark: [claudeCodeSession, /./],
    session: [claudeCodeSession],
    subagent: ["x-claude-code-agent-id"]
  },
  {
    agent: "codex",
    product: /^codex[ _-][^/]*\/([^\s/;()]+)/i,
    mark: ["originator", /^codex[ _-]/i],
    // Older ones write it with an underscore.
    session: ["session-id", "session_id", "conversation_id"],
    subagent: ["thread-id"]
  },
  {
    agent: "opencode",
    product: /^opencode\/([^\s/;()]+)/,
    // A sub-agent has a session of its own there, which belongs to that of its parent.
    session: ["x-parent-session-id", ...ofOpencode],
    subagent: ofOpencode
  },
  { agent: "gemini-cli", product: /^GeminiCLI(?:-[^\s/]*)?\/([^\s/;()]+)/, session: [], subagent: [] }
]

const firstOf = (names: ReadonlyArray<string>, valueOf: ValueOf): string | undefined => {
  for (const name of names) {
    const value = valueOf(name)
    if (value !== undefined && value !== null && value !== "") return value
  }
  return undefined
}

/** What the headers of a call say. */
export const saidBy = (valueOf: ValueOf): ProgramNames => {
  const product = valueOf("user-agent") ?? ""
  for (const program of programs) {
    const { agent, mark } = program
    const found = program.product.exec(product)
    if (found === null && !(mark !== undefined && mark[1].test(valueOf(mark[0]) ?? ""))) continue
    const session = firstOf(program.session, valueOf)
    const subagent = firstOf(program.subagent, valueOf)
    return { agent, version: found?.[1], session, subagent: subagent === session ? undefined : subagent }
  }
  return {}
}

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

/** How Claude Code named its user before 2.1.78. */
const userOfClaudeCode = new RegExp(`^user_.*_account_.*_session_(${uuid})$`)

/**
 * The session that a body says, for calls whose headers say none: of an older Claude Code, or of one behind a gateway. Codex makes its key for
 * the cache of prompts of the session; other applications share one among many.
 */
export const sessionInBody = (inputs: unknown, agent: string | undefined): string | undefined => {
  const user = get(inputs, "metadata", "user_id")
  const said = typeof user === "string" && user.startsWith("{") ? parsed(user) : user
  const session =
    text(get(said, "session_id")) ?? (typeof user === "string" ? userOfClaudeCode.exec(user)?.[1] : undefined)
  return session ?? (agent === "codex" ? (text(get(inputs, "prompt_cache_key")) ?? undefined) : undefined)
}
