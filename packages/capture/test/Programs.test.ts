import { describe, expect, it } from "vitest"
import { type ProgramNames, saidBy, sessionInBody } from "@tachograph/capture/Programs"

const said = (headers: Readonly<Record<string, string>>): ProgramNames => saidBy((name) => headers[name])

/** Headers as the programs send them, without those that say nothing of it. */
const claudeCode = {
  "user-agent": "claude-cli/2.1.332 (external, sdk-cli)",
  "x-claude-code-session-id": "6f1c2b1e-0000-4000-8000-00000000000a",
  "x-stainless-lang": "js",
  "x-stainless-package-version": "0.128.0",
  "x-app": "cli"
}

const codex = {
  originator: "codex_exec",
  "user-agent": "codex_exec/0.171.0 (Debian 12.0.0; x86_64) xterm (codex_exec; 0.171.0)",
  "session-id": "01a222f2-c370-7790-8b11-8f78c5f4db93",
  "thread-id": "01a222f2-c370-7790-8b11-8f78c5f4db93",
  "x-client-request-id": "01a222f2-c370-7790-8b11-8f78c5f4db93"
}

const opencode = {
  "user-agent": "opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14",
  "x-session-affinity": "ses_ddd0ce495ffeb1vsuOM387TEew",
  "x-session-id": "ses_ddd0ce495ffeb1vsuOM387TEew"
}

const geminiCli = {
  "user-agent": "GeminiCLI-tui/0.61.0/gemini-3.1-pro-preview (linux; x64; terminal)",
  "x-goog-api-client": "google-genai-sdk/1.30.0 gl-node/v24.21.0"
}

describe("what a coding agent says of its calls", () => {
  it.each([
    ["claude-code", "2.1.332", claudeCode["x-claude-code-session-id"], claudeCode],
    ["codex", "0.171.0", codex["session-id"], codex],
    ["opencode", "1.18.33", opencode["x-session-id"], opencode],
    ["gemini-cli", "0.61.0", undefined, geminiCli]
  ])("is its name, its version and its session: %s", (agent, version, session, headers) => {
    expect(said(headers)).toEqual({ agent, version, session, subagent: undefined })
  })

  it.each([
    ["claude-cli/1.0.44 (external, cli)", "claude-code", "1.0.44"],
    ["claude-cli/2.1.332 (external, claude-vscode, agent-sdk/0.3.1)", "claude-code", "2.1.332"],
    ["codex_cli_rs/0.50.0 (Mac OS 26.0.1; arm64) Apple_Terminal/464", "codex", "0.50.0"],
    ["codex_vscode/0.94.0-alpha.2 (Windows 10.0.26100; x86_64)", "codex", "0.94.0-alpha.2"],
    ["Codex Desktop/0.147.0 (Mac OS 26.0.1; arm64)", "codex", "0.147.0"],
    ["opencode/local ai-sdk/provider-utils/4.0.23", "opencode", "local"],
    ["GeminiCLI/0.8.1 (darwin; arm64)", "gemini-cli", "0.8.1"]
  ])("is read from every form of its User-Agent: %s", (product, agent, version) => {
    expect(said({ "user-agent": product })).toMatchObject({ agent, version })
  })

  it("names a sub-agent, which stays in the session", () => {
    expect(said({ ...claudeCode, "x-claude-code-agent-id": "aa80d6a76327f39ad" })).toMatchObject({
      session: claudeCode["x-claude-code-session-id"],
      subagent: "aa80d6a76327f39ad"
    })
    const spawned = {
      ...codex,
      "thread-id": "01a22559-4def-7aa3-ac0a-68168b1dd72b",
      "x-openai-subagent": "collab_spawn"
    }
    expect(said(spawned)).toMatchObject({ session: codex["session-id"], subagent: spawned["thread-id"] })
    const child = { ...opencode, "x-parent-session-id": "ses_ddaa4efa8ffe7DxftVtflSTFpJ" }
    expect(said(child)).toMatchObject({ session: child["x-parent-session-id"], subagent: child["x-session-id"] })
  })

  it("is said by older versions and for other providers in other headers", () => {
    const older = { "user-agent": "codex_cli_rs/0.50.0", conversation_id: "c-1", session_id: "s-1" }
    expect(said(older).session).toBe("s-1")
    const zen = { "user-agent": "opencode/1.18.33", "x-opencode-session": "ses_1" }
    expect(said(zen)).toMatchObject({ session: "ses_1", subagent: undefined })
  })

  it("is known by a header of its own, where a gateway has another User-Agent", () => {
    const gateway = { "user-agent": "gateway/1.0" }
    expect(said({ ...gateway, "x-claude-code-session-id": "s-1" })).toMatchObject({
      agent: "claude-code",
      session: "s-1"
    })
    expect(said({ ...gateway, originator: "codex_cli_rs", "session-id": "s-1" })).toMatchObject({
      agent: "codex",
      session: "s-1"
    })
  })

  it("is nothing for SDKs, and for programs whose names only begin so", () => {
    for (const product of [
      "OpenAI/JS 6.49.0",
      "Anthropic/JS 1.14.0",
      "codexplain/1.0",
      "opencoder/2.0",
      "my opencode/1",
      ""
    ]) {
      const headers = { ...codex, ...opencode, originator: "an application", "user-agent": product }
      expect(said(headers)).toEqual({})
    }
  })
})

describe("the session that a body says", () => {
  const session = "11111111-2222-4333-8444-555555555555"

  it("is in the name that Claude Code gives its user, in each of its forms", () => {
    const users = [
      JSON.stringify({ device_id: "0".repeat(64), account_uuid: "", session_id: session }),
      { device_id: "0".repeat(64), session_id: session },
      `user_${"0".repeat(64)}_account__session_${session}`,
      `user_${"0".repeat(64)}_account_${session}_session_${session}`
    ]
    for (const user_id of users) expect(sessionInBody({ metadata: { user_id } }, undefined)).toBe(session)
  })

  it("is not in other names of a user", () => {
    const users = ["user-17", `customer_session_${session}`, "user_a_account_b_session_all", "{", "{}", "", null, 5]
    for (const user_id of users) expect(sessionInBody({ metadata: { user_id } }, "claude-code")).toBeUndefined()
    for (const inputs of [null, {}, [], { metadata: null }])
      expect(sessionInBody(inputs, "claude-code")).toBeUndefined()
  })

  it("is Codex's key of the cache, which other applications share among their calls", () => {
    const inputs = { prompt_cache_key: session }
    expect(sessionInBody(inputs, "codex")).toBe(session)
    for (const agent of [undefined, "opencode"]) expect(sessionInBody(inputs, agent)).toBeUndefined()
  })
})
