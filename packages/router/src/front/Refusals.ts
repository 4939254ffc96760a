/** What the front refuses with. */
import { ForbiddenError, UnauthorizedError } from "@tachograph/api"
import { Errors } from "@tachograph/core"
import * as ErrorAnswer from "../response/ErrorAnswer.ts"

export const overloaded = ErrorAnswer.of(new Errors.Overloaded())!
export const unauthorized = ErrorAnswer.of(new UnauthorizedError())!
export const forbidden = ErrorAnswer.of(new ForbiddenError())!
