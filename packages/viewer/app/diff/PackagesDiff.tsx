/** The packages that two fingerprints do not share in the same version. */
import { Table } from "../parts/Table.tsx"
import { Plain } from "../text/Plain.tsx"

type Versions = Readonly<Record<string, string>>

interface Props {
  readonly before: Versions
  readonly after: Versions
  /** What the columns of both are called. */
  readonly names: readonly [before: string, after: string]
}

export const PackagesDiff = ({ after, before, names: titles }: Props) => {
  const old = new Map(Object.entries(before))
  const now = new Map(Object.entries(after))
  const names = Array.from(new Set([...old.keys(), ...now.keys()])).toSorted()
  const changed = names.filter((name) => old.get(name) !== now.get(name))
  const same = names.length - changed.length
  if (names.length === 0) return <p class="hint">Neither registered any.</p>
  if (changed.length === 0) return <p class="hint">The same in both: {same}.</p>
  return (
    <>
      <Table
        label="Packages that differ"
        class="packages"
        columns={[
          { title: "Package", isHead: true, of: (name) => <Plain text={name} /> },
          {
            title: <Plain text={titles[0]} />,
            of: (name) => old.has(name) && <Plain as="del" text={old.get(name)!} />
          },
          { title: <Plain text={titles[1]} />, of: (name) => now.has(name) && <Plain as="ins" text={now.get(name)!} /> }
        ]}
        rows={changed}
        keyOf={(name) => name}
      />
      {same > 0 && <p class="hint">The same in both: {same}.</p>}
    </>
  )
}
