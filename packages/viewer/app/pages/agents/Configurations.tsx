/** How a version of an agent was called. Configurations that differ in one short place of their instructions are one, with its variants. */
import { useMemo, useState } from "preact/hooks"
import { Cost, Time } from "../../parts/Facts.tsx"
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
import * as Variants from "./Variants.ts"

/** Variants that are listed at first, and with each step. */
const stepVariants = 20

/** What variants have in common. */
const besidesOf = ({ fingerprint_id, is_damaged, model, parameters, tools }: Configuration): string =>
  JSON.stringify([model, fingerprint_id, parameters, tools, is_damaged])

const sumOf = (all: ReadonlyArray<Configuration>) => {
  const priced = all.flatMap(({ cost_usd }) => (cost_usd === null ? [] : [Number(cost_usd)]))
  return {
    cost: priced.length === 0 ? null : String(priced.reduce((sum, cost) => sum + cost, 0)),
    events: all.reduce((sum, { events }) => sum + events, 0),
    unpriced: all.reduce((sum, { unpriced_events }) => sum + unpriced_events, 0),
    firstAt: all.map(({ first_used_at }) => first_used_at).toSorted()[0]!
  }
}

export const Configurations = ({ agent, version }: { readonly agent: string; readonly version: string }) => {
  const { again, error, value } = useAnswer((signal) => Lists.configurations(agent, version, signal), version)
  const groups = useMemo(() => value && Variants.group(value, textOf.instructions, besidesOf), [value])
  return (
    <section class="configurations">
      <h2>
        How version <Plain text={version} /> was called
      </h2>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="its configurations" />}
      {groups?.map((group) => (
        <OneConfiguration key={group.items[0]!.first_event_id} group={group} />
      ))}
    </section>
  )
}

const OneConfiguration = ({ group }: { readonly group: Variants.Group<Configuration> }) => {
  const [configuration] = group.items as readonly [Configuration]
  const { cost, events, firstAt, unpriced } = sumOf(group.items)
  const instructions = textOf.instructions(configuration)
  return (
    <details class="configuration">
      <summary>
        <b>
          <Plain text={configuration.model ?? "no model"} />
        </b>
        <span>
          {Format.count(events)} {events === 1 ? "call" : "calls"}
        </span>
        <Cost usd={cost} unpriced={unpriced} />
        <span>
          <Time at={firstAt} /> to <Time at={configuration.last_used_at} />
        </span>
        {group.items.length > 1 && (
          <span class="warn">
            {Format.count(group.items.length)} variants at character{" "}
            {Format.count(Variants.characterOf(group, instructions))}
          </span>
        )}
        <span class="arguments">
          <Plain text={Words.line(instructions)} />
        </span>
      </summary>
      <div class="fold">
        <p>
          <a href={Route.to(["events", configuration.first_event_id], { tab: "settings" })}>Its first call</a>
          {" · "}
          <a href={Route.to(["fingerprints", configuration.fingerprint_id])}>Its fingerprint</a>
        </p>
        {group.items.length > 1 && <ListOfVariants group={group} />}
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

const ListOfVariants = ({ group }: { readonly group: Variants.Group<Configuration> }) => {
  const [shown, setShown] = useState(stepVariants)
  const { items } = group
  return (
    <>
      <h3>Variants, the latest first</h3>
      <p class="hint">
        They differ at character {Format.count(Variants.characterOf(group, textOf.instructions(items[0]!)))} of the
        instructions only, so that no cache serves what comes after. Below is the latest.
      </p>
      <ul>
        {items.slice(0, shown).map((each) => (
          <li key={each.first_event_id}>
            <a href={Route.to(["events", each.first_event_id], { tab: "settings" })}>
              <Plain text={Words.line(Variants.placeOf(group, textOf.instructions(each))) || "nothing"} />
            </a>{" "}
            {Format.count(each.events)} {each.events === 1 ? "call" : "calls"}
          </li>
        ))}
      </ul>
      {shown < items.length && (
        <button type="button" class="more" onClick={() => setShown(shown + stepVariants)}>
          {Format.count(items.length - shown)} more
        </button>
      )}
    </>
  )
}
