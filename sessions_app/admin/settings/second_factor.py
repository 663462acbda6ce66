"""Second factors have no pages in the admin: the package's own show secrets and bypass the audit log."""

from django.contrib import admin
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

admin.site.unregister([StaticDevice, TOTPDevice])
