/** What the instructions, the tools and the parameters of two calls differ in. */
import { type Instructed, instructionsText } from "@tachograph/client/compare"
import type { ComponentChildren } from "preact"
import type { Conversation } from "../server/Types.ts"
import { ToolsDiff } from "./ToolsDiff.tsx"
import { WordDiff } from "./WordDiff.tsx"

type Settings = Instructed & Pick<Conversation, "parameters" | "tools">

interface Props {
  readonly before: Settings
  readonly after: Settings
  /** What else differs. */
  readonly children?: ComponentChildren
}

const parametersOf = ({ parameters }: Settings): string => JSON.stringify(parameters, undefined, 2)

export const ConversationSettings = ({ after, before, children }: Props) => (
  <div class="settings">
    <section>
      <h2>Instructions</h2>
      <WordDiff before={instructionsText(before)} after={instructionsText(after)} />
    </section>
    <section>
      <h2>Tools</h2>
      <ToolsDiff before={before.tools} after={after.tools} />
    </section>
    <section>
      <h2>Parameters</h2>
      <WordDiff before={parametersOf(before)} after={parametersOf(after)} />
    </section>
    {children}
  </div>
)
