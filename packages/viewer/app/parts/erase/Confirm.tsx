/** Asks before something is erased for good. It names what goes. */
import type { ComponentChildren } from "preact"
import { Dialog } from "../Dialog.tsx"

interface Props {
  /** `Erase 3 sessions`: the title as a question, and the button. */
  readonly does: string
  readonly children: ComponentChildren
  readonly close: () => void
  readonly confirm: () => void
}

export const Confirm = ({ children, close, confirm, does }: Props) => (
  <Dialog title={`${does}?`} close={close}>
    {children}
    <p>
      <b>It cannot be undone.</b>
    </p>
    <p class="confirm">
      <button type="button" onClick={close}>
        Cancel
      </button>{" "}
      <button
        type="button"
        class="danger"
        onClick={() => {
          close()
          confirm()
        }}
      >
        {does}
      </button>
    </p>
  </Dialog>
)
