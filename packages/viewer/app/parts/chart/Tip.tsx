/** What a chart says of the slot that is pointed at. Its slider says the same to those who do not see it. */
import { Plain } from "../../text/Plain.tsx"

/** What is read of a slot. */
export interface Read {
  readonly when: string
  readonly values: ReadonlyArray<{ readonly name: string; readonly class: string; readonly text: string }>
  /** Of all series, where they add up. */
  readonly sum: string | undefined
}

interface Props {
  readonly read: Read
  /** Where it stands, so that it hides nothing of what is pointed at. */
  readonly side: "start" | "end"
  readonly hint: string | undefined
}

export const Tip = ({ hint, read: { sum, values, when }, side }: Props) => (
  <div class={`tip ${side}`} aria-hidden="true">
    <b>{when}</b>
    <dl>
      {values.map(({ name, text, ...each }) => (
        <div key={name}>
          <dt>
            <span class={`swatch ${each.class}`} />
            <Plain text={name} />
          </dt>
          <dd>{text}</dd>
        </div>
      ))}
      {sum !== undefined && values.length !== 1 && (
        <div>
          <dt>All</dt>
          <dd>{sum}</dd>
        </div>
      )}
    </dl>
    {hint !== undefined && <small>A click shows {hint}</small>}
  </div>
)
