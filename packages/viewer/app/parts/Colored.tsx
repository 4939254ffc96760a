/** The name of an agent, a version or a model, with its colour before it. */
import type { ComponentChildren } from "preact"
import * as Hue from "../text/Hue.ts"

interface Props {
  readonly name: string
  /** How the name is shown. */
  readonly children: ComponentChildren
}

const Dot = ({ name }: Pick<Props, "name">) =>
  name === "" ? null : <span class={`dot hue-${Hue.of(name)}`} aria-hidden="true" />

export const Colored = ({ children, name }: Props) => (
  <span class="colored">
    <Dot name={name} />
    {children}
  </span>
)
