/** How a version of an agent was called. Configurations that differ in one short place of their instructions are one, with its variants. */
import { Colored } from "../../parts/Colored.tsx"
import { SumCost } from "../../parts/Costs.tsx"
import { Time } from "../../parts/Facts.tsx"
import { Link } from "../../parts/Link.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import { Text } from "../../parts/Text.tsx"
import * as Route from "../../route/Route.ts"
import * as Lists from "../../server/Lists.ts"
import type { Configuration } from "../../server/Types.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { Plain } from "../../text/Plain.tsx"
import * as Words from "../../text/Words.ts"
import { textOf } from "./usedWith.ts"

export const Configurations = ({ agent, version }: { readonly agent: string; readonly version: string }) => {
  const { again, error, value } = useAnswer((signal) => Lists.configurations(agent, version, signal), version)
  return (
    <section class="configurations">
      <h2>
        How version <Plain text={version} /> was called
      </h2>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="its configurations" />}
      {value?.map((configuration) => (
        <OneConfiguration key={configuration.first_event_id} configuration={configuration} />
      ))}
    </section>
  )
}

const OneConfiguration = ({ configuration }: { readonly configuration: Configuration }) => {
  const { events, first_used_at, variants } = configuration
  const instructions = textOf.instructions(configuration)
  return (
    <details class="configuration">
      <summary>
        <Colored name={configuration.model ?? ""}>
          <Plain as="b" text={configuration.model ?? "no model"} />
        </Colored>
        <span>{Format.counted(events, "call")}</span>
        <span>
          <SumCost of={configuration} />
        </span>
        <span>
          <Time at={first_used_at} /> to <Time at={configuration.last_used_at} />
        </span>
        {variants !== null && (
          <span class="warn">
            {Format.count(variants.count)} variants at {Format.place(variants)}
          </span>
        )}
        <Plain as="span" class="arguments" text={Words.line(instructions)} />
      </summary>
      <div class="fold">
        <p>
          <a href={Route.to(["events", configuration.first_event_id], { tab: "settings" })}>Its first call</a>
          {" · "}
          <a href={Route.to(["fingerprints", configuration.fingerprint_id])}>Its runtime</a>
        </p>
        {variants !== null && <ListOfVariants variants={variants} />}
        <h3>Instructions</h3>
        <Text text={instructions} isMarkdown={false} />
        <h3>Tools</h3>
        <p>
          <Plain text={configuration.tools.map((tool) => Words.textOf(tool["name"])).join(", ") || "none"} />
        </p>
        <h3>Parameters</h3>
        <Text text={JSON.stringify(configuration.parameters, undefined, 2)} isMarkdown={false} />
      </div>
    </details>
  )
}

const ListOfVariants = ({ variants }: { readonly variants: NonNullable<Configuration["variants"]> }) => (
  <>
    <h3>Variants, the latest first</h3>
    <p class="hint">
      They differ at {Format.place(variants)} of the instructions only, so that no cache serves what comes after. Below
      is the latest.
    </p>
    <ul>
      {variants.latest.map(({ events, first_event_id, text }) => (
        <li key={first_event_id}>
          <Link to={Route.to(["events", first_event_id], { tab: "settings" })} text={Words.line(text) || "nothing"} />{" "}
          {Format.counted(events, "call")}
        </li>
      ))}
    </ul>
    {variants.count > variants.latest.length && (
      <p class="hint">And {Format.count(variants.count - variants.latest.length)} earlier ones.</p>
    )}
  </>
)
