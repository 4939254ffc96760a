/** Colours of standard output: on a terminal only, and not where `NO_COLOR` is set. */
import { styleText } from "node:util"

type Style = Parameters<typeof styleText>[0]

const styled =
  (style: Style) =>
  (text: string): string =>
    styleText(style, text, { stream: process.stdout })

export const dim = styled("dim")
export const bold = styled("bold")
export const red = styled("red")
export const green = styled("green")
export const cyan = styled("cyan")
export const yellow = styled("yellow")
