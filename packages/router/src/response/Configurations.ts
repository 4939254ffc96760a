/** The answer of List Configurations. */
import { AgentVersions } from "@tachograph/api"
import type { Configuration } from "@tachograph/core"
import * as ExactJson from "@tachograph/formats/json/ExactJson"
import * as Schema from "effect/Schema"
import * as Answer from "./Answer.ts"

const encodeUse = Schema.encodeSync(AgentVersions.ConfigurationUse)

/** Written as text: numbers are those of the payloads, also where JavaScript would round them. */
const textOf = ({ instructions, parameters, tools, ...use }: Configuration): string => {
  const { model, ...encoded } = encodeUse(use)
  return ExactJson.stringify({ model, parameters, instructions, tools, ...encoded } as ExactJson.ExactObject)
}

export const toAnswer = (configurations: ReadonlyArray<Configuration>, nextCursor: string | null): Answer.Answer =>
  Answer.json(
    `{"configurations":[${configurations.map(textOf).join(",")}],"next_cursor":${JSON.stringify(nextCursor)}}`
  )
