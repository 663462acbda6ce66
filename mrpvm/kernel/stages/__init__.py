"""The stages of a frame, one per module, in running order.

    detect    -> the questions and statements of the message
    plan      -> the retrievers and solvers to try, in order
    retrieve  -> evidence
    solve     -> an answer
    validate  -> whether the answer is acceptable

Each stage is a program (`mrpvm.kernel.calls`): it makes its plugin calls and returns their results.
"""
