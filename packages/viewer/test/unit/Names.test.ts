import { apis, sdkVersionFields } from "@tachograph/core/domain/ProviderNames"
import { expect, it } from "vitest"
import * as Names from "../../app/text/Names.ts"

it("every interface and every field of the wire has a name that people know", () => {
  for (const api of apis) expect(Names.ofApi(api)).not.toMatch(/provider\d|^[a-z]/)
  for (const field of sdkVersionFields)
    expect(Names.ofField(field)).toMatch(/^(OpenAI|Anthropic|Gemini|Tachograph) SDK version$/)
})

it("what has no name is shown as it is", () => {
  expect([Names.ofApi("new-api"), Names.ofField("git_commit_hash"), Names.ofEnd("guardrail_intervened")]).toEqual([
    "new-api",
    "Git commit hash",
    "guardrail intervened"
  ])
})
