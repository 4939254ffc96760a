import { Plain } from "../text/Plain.tsx"

/** A link whose text is a stranger's. */
export const Link = ({ text, to }: { readonly to: string; readonly text: string }) => (
  <a href={to}>
    <Plain text={text} />
  </a>
)
