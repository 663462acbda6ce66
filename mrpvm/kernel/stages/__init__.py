"""The stages of a frame, one a module, in running order.

    detect    -> what is asked, and what the message states
    plan      -> which retrievers and solvers, in which order
    retrieve  -> evidence
    solve     -> an answer
    validate  -> may it be given

Each is a program (`mrpvm.kernel.calls`): it makes its plugin calls and returns their results.
"""
