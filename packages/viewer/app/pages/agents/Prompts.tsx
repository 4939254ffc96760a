/** The prompts and tools of an agent: which versions, fingerprints and commits used the same ones, and from when to when. */
import { useState } from "preact/hooks"
import { WordDiff } from "../../diff/WordDiff.tsx"
import { Colored } from "../../parts/Colored.tsx"
import { Time } from "../../parts/Facts.tsx"
import { Failed, Loading } from "../../parts/States.tsx"
import { type Column, number, Table } from "../../parts/Table.tsx"
import * as Route from "../../route/Route.ts"
import { useAnswer } from "../../server/useAnswer.ts"
import * as Format from "../../text/Format.ts"
import { plain } from "../../text/Hidden.ts"
import { Plain } from "../../text/Plain.tsx"
import { type Kind, read, type Used } from "./usedWith.ts"

/** Versions that are looked at: the latest. */
const maxVersions = 10

/** Rows that a table shows at first, and with each step. */
const stepRows = 50

/** Digits of a hash that are shown. */
const hashDigits = 10

const words = {
  instructions: { title: "Prompts", one: "Prompt", none: "No instructions" },
  tools: { title: "Tools", one: "Tools", none: "No tools" }
} as const

interface Props {
  readonly agent: string
  /** From the first to the last. */
  readonly versions: ReadonlyArray<string>
}

export const Prompts = ({ agent, versions }: Props) => {
  const latest = versions.slice(-maxVersions)
  const { again, error, value } = useAnswer(read(agent, latest), JSON.stringify([agent, latest]))
  return (
    <>
      {error !== undefined && <Failed error={error} again={again} />}
      {value === undefined && error === undefined && <Loading what="the prompts" />}
      {value?.instructions.length === 0 && <p class="hint">No call was recorded.</p>}
      {value !== undefined && value.instructions.length > 0 && (
        <>
          <UsedTable agent={agent} kind="instructions" used={value.instructions} />
          <UsedTable agent={agent} kind="tools" used={value.tools} />
        </>
      )}
      {versions.length > maxVersions && <p class="hint">Of the latest {maxVersions} versions.</p>}
    </>
  )
}

interface TableProps {
  readonly agent: string
  readonly kind: Kind
  readonly used: ReadonlyArray<Used>
}

const UsedTable = ({ agent, kind, used }: TableProps) => {
  const [shown, setShown] = useState(stepRows)
  return (
    <section>
      <h2>{words[kind].title}</h2>
      <Table
        label={words[kind].title}
        class={`prompts ${kind}`}
        columns={columnsOf(agent, kind, used)}
        rows={used.slice(0, shown)}
        keyOf={({ sha256 }) => sha256}
      />
      {shown < used.length && (
        <button type="button" class="more" onClick={() => setShown(shown + stepRows)}>
          {Format.count(used.length - shown)} more
        </button>
      )}
    </section>
  )
}

const columnsOf = (agent: string, kind: Kind, all: ReadonlyArray<Used>): ReadonlyArray<Column<Used>> => [
  {
    title: words[kind].one,
    class: "title",
    of: (used) => <Told kind={kind} used={used} before={all[all.indexOf(used) + 1]} />
  },
  {
    title: "Versions",
    of: ({ versions }) =>
      versions.map((version) => (
        <Colored key={version} name={version}>
          <a class="each" href={Route.to(["agents", agent], { version })}>
            <Plain text={version} />
          </a>
        </Colored>
      ))
  },
  {
    title: "Runtimes and commits",
    of: ({ fingerprints }) =>
      fingerprints.map(({ commit, id }) => (
        <a
          key={id}
          class="each"
          href={Route.to(["fingerprints", id])}
          title={commit === null ? undefined : plain(commit)}
        >
          <Plain as="code" text={commit === null ? id.slice(0, 8) : `${id.slice(0, 8)} @ ${commit.slice(0, 8)}`} />
        </a>
      ))
  },
  number("Calls", ({ events }) => Format.count(events)),
  number("Used", ({ firstAt, lastAt }) => (
    <>
      <Time at={firstAt} />
      <small>
        to <Time at={lastAt} />
      </small>
    </>
  ))
]

interface ToldProps {
  readonly kind: Kind
  readonly used: Used
  /** What was used before. */
  readonly before: Used | undefined
}

/** What the model was told, and what that changed. */
const Told = ({ before, kind, used }: ToldProps) => {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <a href={Route.to(["events", used.firstEventId], { tab: "settings" })} title="Its first call">
        {used.text === "" ? <i>{words[kind].none}</i> : <Plain text={used.line} />}
      </a>
      <small hidden={used.text === ""}>
        {Format.counted(used.text.length, "character")},{" "}
        <code title={used.sha256}>{used.sha256.slice(0, hashDigits)}</code>
      </small>
      {used.variants && (
        <small class="warn">
          {Format.count(used.variants.count)} variants, which differ at {Format.place(used.variants)} only
        </small>
      )}
      {before !== undefined && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>What it changed</summary>
          {isOpen && <WordDiff before={before.text} after={used.text} />}
        </details>
      )}
    </>
  )
}
