/** The packages that two fingerprints do not share in the same version. */
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
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Packages that differ">
        <table class="rows packages">
          <thead>
            <tr>
              <th scope="col">Package</th>
              {titles.map((title, index) => (
                <th key={index} scope="col">
                  <Plain text={title} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {changed.map((name) => (
              <tr key={name}>
                <th scope="row">
                  <Plain text={name} />
                </th>
                <td>
                  {old.has(name) && (
                    <del>
                      <Plain text={old.get(name)!} />
                    </del>
                  )}
                </td>
                <td>
                  {now.has(name) && (
                    <ins>
                      <Plain text={now.get(name)!} />
                    </ins>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {same > 0 && <p class="hint">The same in both: {same}.</p>}
    </>
  )
}
